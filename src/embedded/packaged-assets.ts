/** Assets that packages bring, by their name below `/assets/`; the executable has them compressed. */
export const packagedAssets: Readonly<Record<string, string>> = {
  'mermaid.js': 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js',
};
