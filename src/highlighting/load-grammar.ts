import hljs from 'highlight.js/lib/core';
import type { Emitter } from 'highlight.js';
import { grammars } from './grammars.ts';
import { LineWriter, TokenRecorder } from './line-writer.ts';
import type { LineRanges } from './line-ranges.ts';

/** Receives the tokens of the next text; embedded languages record theirs. */
let writer: LineWriter | null = null;

/** The library creates one for each text, and for each part of it in another language. */
function nextEmitter(): Emitter {
  const next = writer ?? new TokenRecorder();
  writer = null;
  return next;
}

// The library calls it with `new`, whose result is the returned object.
hljs.configure({ __emitter: nextEmitter as unknown as new () => Emitter });

/**
 * Lines of HTML with a span for each token, one class per kind of token, which the stylesheet names.
 * @param grammar a loaded one
 * @param ranges the only lines to write, others up to the last of them are empty; all lines without it
 */
export function highlightLines(grammar: string, text: string, ranges?: LineRanges): string[] {
  const lines = new LineWriter(ranges);
  writer = lines;
  hljs.highlight(text, { language: grammar, ignoreIllegals: true });
  return lines.lines;
}

const namesByAlias = new Map(
  Object.entries(grammars).flatMap(([name, { aliases }]) =>
    [name, ...(aliases?.split(' ') ?? [])].map((alias): [string, string] => [alias, name]),
  ),
);

/** The grammar with this name or alias, ignoring case; null if unknown. */
export const grammarCalled = (language: string): string | null => namesByAlias.get(language.toLowerCase()) ?? null;

const loaded = new Map<string, Promise<unknown>>();

/**
 * The library with this grammar and those of its embedded languages.
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
