import hljs from 'highlight.js/lib/core';
import { grammars } from './grammars.ts';

// One class per kind of token, without the library's prefix; the stylesheet names them.
hljs.configure({ classPrefix: 'x-' });

const namesByAlias = new Map(
  Object.entries(grammars).flatMap(([name, { aliases }]) =>
    [name, ...(aliases?.split(' ') ?? [])].map((alias): [string, string] => [alias, name]),
  ),
);

/** The grammar with this name or alias, in any case of letters; null when there is none. */
export const grammarCalled = (language: string): string | null => namesByAlias.get(language.toLowerCase()) ?? null;

const loaded = new Map<string, Promise<unknown>>();

/**
 * The library with this grammar and those of the languages within it.
 * @param name a key of `grammars`
 */
export async function loadGrammar(name: string): Promise<typeof hljs> {
  const wanted = new Set([name]);
  for (const each of wanted) for (const inner of grammars[each]!.within?.split(' ') ?? []) wanted.add(inner);
  await Promise.all(
    [...wanted].map((each) => {
      const known =
        loaded.get(each) ?? grammars[each]!.load().then((grammar) => hljs.registerLanguage(each, grammar.default));
      loaded.set(each, known);
      return known;
    }),
  );
  return hljs;
}
