/** Assets from npm packages, by their name below `/assets/`; compressed in the executable. */
export const packagedAssets: Readonly<Record<string, string>> = {
  'mermaid.js': 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js',
};
