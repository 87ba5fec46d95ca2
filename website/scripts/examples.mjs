// Examples of the reference run in the page, with the package itself.
export {};
