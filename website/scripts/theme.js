// Before anything is painted: the theme that the reader chose.  A classic script, so that nothing flickers.
{
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
}
