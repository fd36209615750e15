/** The folder with `package.json`, `sql/` and `jobs/`, as a URL that ends with a slash: above both src/ and dist/. */
export const packageRoot = new URL('../', import.meta.url);
