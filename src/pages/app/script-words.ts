import type { Embedded } from '../../embedded/index.ts';
import { inLanguage, listLanguages, t } from '../../translation/index.ts';

/** Scripts that show words of their own. */
const scripts = ['app', 'diagrams', 'passkeys'] as const;

/** The name of a script with the words of a language: `app.de.js`. */
export const scriptIn = (script: (typeof scripts)[number], language: string): string =>
  `${script}.${language.toLowerCase()}.js`;

/**
 * The scripts once more for each language, with the messages that they name in front: a script asks for a message as
 * a template does, `t('scripts.copied')`, and the browser loads one file.
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
      // The script puts names in.
      const words = inLanguage(code, () => keys.map((key) => [key, t(key, { name: '{name}' })]));
      return Buffer.from(`const words = ${JSON.stringify(Object.fromEntries(words))};\n${source}`);
    },
  };
}
