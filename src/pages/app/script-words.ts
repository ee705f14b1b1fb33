import type { Embedded } from '../../embedded/index.ts';
import { inLanguage, listLanguages, t } from '../../translation/index.ts';

/** Scripts with translated messages. */
const scripts = ['app', 'diagrams', 'passkeys'] as const;

/** The file name of a script for a language: `app.de.js`. */
export const scriptIn = (script: (typeof scripts)[number], language: string): string =>
  `${script}.${language.toLowerCase()}.js`;

/**
 * One copy of each script per language, with its messages prepended: a script uses messages as a template does,
 * `t('scripts.copied')`, and the browser loads one file.
 */
export function scriptsWithWords(embedded: Embedded): { names: string[]; make(name: string): Buffer } {
  const known = new Map(
    scripts.flatMap((script) => listLanguages().map(({ code }) => [scriptIn(script, code), { script, code }] as const)),
  );
  return {
    names: [...known.keys()],
    make(name) {
      const { script, code } = known.get(name)!;
      const source = embedded.asset(`${script}.js`).toString();
      const keys = [...source.matchAll(/(?<![\w.])t\('([a-z0-9_.]+)'/g)].map(([, key]) => key!);
      // The script fills in the names.
      const words = inLanguage(code, () => keys.map((key) => [key, t(key, { name: '{name}' })]));
      return Buffer.from(`const words = ${JSON.stringify(Object.fromEntries(words))};\n${source}`);
    },
  };
}
