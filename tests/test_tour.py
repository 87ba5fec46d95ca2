"""docs/design.md shows softmax on its way through the compiler, as the compiler makes it now."""

import tour


def test_the_tour_shows_what_is_made(request):
    page = tour.PAGE.read_text(encoding="utf-8")
    assert {m[2] for m in tour.SHOWN.finditer(page)} == tour.MADE.keys()
    now = tour.renewed(page)
    if request.config.getoption("--update-golden"):
        tour.PAGE.write_text(now, encoding="utf-8")
    assert page == now, "what docs/design.md shows is not what is made now; see --update-golden"


def test_a_text_that_is_not_made_so_is_renewed():
    page = tour.PAGE.read_text(encoding="utf-8")
    assert tour.renewed(page.replace("acc0 = max r0", "acc0 = min r0")) == page
    assert page.count("acc0 = max r0") == 1


def test_every_decision_is_listed_and_short():
    page = tour.PAGE.read_text(encoding="utf-8")
    files = sorted((tour.PAGE.parent / "decisions").glob("*.md"))
    assert [f.name for f in files if f"(decisions/{f.name})" not in page] == []
    assert len(files) > 20 and page.count("](decisions/") == len(files)
    assert [f.name for f in files if len(f.read_text(encoding="utf-8").splitlines()) > 40] == []
