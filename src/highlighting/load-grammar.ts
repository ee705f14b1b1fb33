import hljs from 'highlight.js/lib/core';
import type { Emitter } from 'highlight.js';
import { grammars } from './grammars.ts';
import { LineWriter, TokenRecorder } from './line-writer.ts';
import type { LineRanges } from './line-ranges.ts';

/** Takes the tokens of the next text; the languages within it record theirs. */
let writer: LineWriter | null = null;

/** The library makes one for each text, and for each part of it in another language. */
function nextEmitter(): Emitter {
  const next = writer ?? new TokenRecorder();
  writer = null;
  return next;
}

// Called with `new`, which takes what a function returns.
hljs.configure({ __emitter: nextEmitter as unknown as new () => Emitter });

/**
 * Lines of HTML with a span for each token, one class per kind of token; the stylesheet names them.
 * @param grammar one that is loaded
 * @param ranges the only lines that are written, the others up to the last of them are empty; all without it
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
