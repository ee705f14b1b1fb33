import type { TaskLimits, WorkerPool } from '../workers/index.ts';
import type { run } from './highlight-task.ts';
import { languageOf } from './languages.ts';

export interface HighlightRequest {
  /** What the text is known by: the id of its blob. An id never means other bytes. */
  oid: string;
  fileName: string;
  text: string;
  /** On whose behalf, for the worker pool. */
  client: string;
}

/** Colours code in the worker pool. */
export interface Highlighting {
  /**
   * The text line by line as HTML: escaped, with a span for each token. Null when the
   * language is unknown, the text too large, or the highlighter gave up: then the page
   * shows the text as it is. Takes a second and a half at most, on a busy machine two.
   */
  highlight(request: HighlightRequest): Promise<string[] | null>;
  /** Whether this text would be coloured if there is time: its language is known and it is not too large. */
  canHighlight(request: Pick<HighlightRequest, 'fileName' | 'text'>): boolean;
}

const maxBytes = 512 * 1024;
const maxLines = 10_000;
const maxLineLength = 2_000;

const limits: TaskLimits = {
  deadlineMs: 500,
  // The first thread of a busy machine reads two hundred grammars before it begins; the next view finds it up.
  patienceMs: 1_000,
  // Texts beyond Latin-1 have two bytes for each character.
  maxInputBytes: 2 * maxBytes + 1_024,
  maxResultBytes: 16 * 1024 * 1024,
};

export function createHighlighting({ workers }: { workers: WorkerPool }): Highlighting {
  return {
    canHighlight: ({ fileName, text }) => Boolean(languageOf(fileName)?.grammar) && fits(text),
    async highlight({ oid, fileName, text, client }) {
      const grammar = languageOf(fileName)?.grammar;
      if (!grammar || !fits(text)) return null;
      const outcome = await workers.run<typeof run>({
        task: 'highlight',
        key: `${oid} ${grammar}`,
        input: () => ({ grammar, text }),
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
