import type { TaskLimits, WorkerPool } from '../workers/index.ts';
import type { run } from './highlight-task.ts';
import type { LineRanges } from './line-ranges.ts';
import { languageOf } from './languages.ts';

interface HighlightRequest {
  /** Cache key of the text: its blob id. */
  oid: string;
  fileName: string;
  text: string;
  /** The client, for the fair queue of the worker pool. */
  client: string;
  /** The only lines to highlight; other lines are returned empty, and none after the last range. */
  ranges?: LineRanges;
}

/** Syntax highlighting in the worker pool. */
export interface Highlighting {
  /**
   * The text line by line as HTML: escaped, with a span for each token. Null when the language is unknown, the text is
   * too large, or the highlighter was terminated; the page then shows plain text. Takes at most 1.5 seconds, on a busy
   * machine two.
   */
  highlight(request: HighlightRequest): Promise<string[] | null>;
  /** Whether this text can be highlighted: its language is known and it is within the size limit. */
  canHighlight(request: Pick<HighlightRequest, 'fileName' | 'text'>): boolean;
}

const maxBytes = 512 * 1024;
const maxLines = 10_000;
const maxLineLength = 2_000;

const limits: TaskLimits = {
  deadlineMs: 500,
  // Starting a thread takes longer on a busy machine; the next view finds it running.
  maxWaitMs: 1_000,
  // Strings with characters outside Latin-1 take two bytes per character.
  maxInputBytes: 2 * maxBytes + 1_024,
  maxResultBytes: 16 * 1024 * 1024,
};

export function createHighlighting({ workers }: { workers: WorkerPool }): Highlighting {
  return {
    canHighlight: ({ fileName, text }) => Boolean(languageOf(fileName)?.grammar) && fits(text),
    async highlight({ oid, fileName, text, client, ranges }) {
      const grammar = languageOf(fileName)?.grammar;
      if (!grammar || !fits(text)) return null;
      const outcome = await workers.run<typeof run>({
        task: 'highlight',
        key: ranges === undefined ? `${oid} ${grammar}` : `${oid} ${grammar} ${ranges.join(' ')}`,
        input: () => ({ grammar, text, ...(ranges !== undefined && { ranges }) }),
        client,
        limits,
      });
      return outcome.ok ? outcome.value : null;
    },
  };
}

function fits(text: string): boolean {
  if (text.length > maxBytes) return false;
  const lines = text.split('\n');
  return lines.length <= maxLines && lines.every((line) => line.length <= maxLineLength);
}
