"""docs/sizes.md says what each part of the package adds to a bundle."""

from buildtools import parts


def test_the_page_says_what_parts_weigh(dist, request):
    """To half a kilobyte or a twentieth: who changes more measures anew.  What belongs to no part is the program
    itself."""
    sizes = parts.measured(dist)
    assert [bundle for bundle, found in sizes.items() if found["other"][0] > 200] == []
    page, now = parts.PAGE.read_text(encoding="utf-8"), parts.table(sizes)
    if request.config.getoption("--update-golden"):
        start, end = page.index("| kB"), page.rindex("|\n") + 2
        page = page[:start] + now + page[end:]
        parts.PAGE.write_text(page, encoding="utf-8")
    said, found = parts.stated(page), parts.stated(now)
    assert said.keys() == found.keys()
    wrong = {
        name: (row, found[name])
        for name, row in said.items()
        if any(abs(a - b) > max(0.5, b / 20) for a, b in zip(row, found[name], strict=True))
    }
    assert wrong == {}, "python3 build.py test -k test_parts --update-golden"
