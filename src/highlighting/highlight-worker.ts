import { parentPort } from 'node:worker_threads';
import hljs from 'highlight.js';
import { splitLines } from './split-lines.ts';

/** What this thread is asked, and what it answers. */
export interface HighlightTask {
  id: number;
  grammar: string;
  text: string;
}

export interface HighlightAnswer {
  id: number;
  lines: string[] | null;
}

// A class for each kind of token, without a prefix of the library's own: the stylesheet names them.
hljs.configure({ classPrefix: 'x-' });

parentPort?.on('message', ({ id, grammar, text }: HighlightTask) => {
  let lines: string[] | null = null;
  try {
    lines = splitLines(hljs.highlight(text, { language: grammar, ignoreIllegals: true }).value);
  } catch {
    // A grammar that trips shows plain text.
  }
  parentPort?.postMessage({ id, lines } satisfies HighlightAnswer);
});
parentPort?.postMessage({ id: 0, lines: null } satisfies HighlightAnswer);
