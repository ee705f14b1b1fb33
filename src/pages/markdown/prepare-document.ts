import { highlightBlocks } from '../../highlighting/index.ts';
import { issueLimits, parseReferences } from '../../issues/index.ts';
import type { BareReference, Reference } from '../../issues/index.ts';
import type { TaskLimits, WorkerPool } from '../../workers/index.ts';
import { t } from '../../translation/index.ts';
import { findInstanceUrls } from './linked-text.ts';
import type { run as runAsciidoc } from './asciidoc-task.ts';
import type { run as runMarkdown } from './markdown-task.ts';
import { fillPlaceholders, unescapeHtml } from './placeholders.ts';
import type { TextKind } from './render-markdown.ts';
import type { run as runMath } from './math-task.ts';
import type { RenderedMarkdown } from './rendered-markdown.ts';

/** A document as rendered by the worker pool, the same for every viewer at every path. */
export interface PreparedDocument {
  parts: RenderedMarkdown;
  /** By the index of the block; shorter where highlighting is missing. */
  code: readonly (string | null)[];
  /** By the index of the formula. */
  formulas: readonly (string | null)[];
  /** The possible references of each text, in the order of the placeholders. */
  runs: readonly (readonly Reference[])[];
  /** All references of the document, for `readReferences`. */
  references: readonly BareReference[];
  /** Whether the result is final; otherwise a later view may show more. */
  isFinal: boolean;
}

/** A document that is shown as text, with the reason. */
export interface PlainDocument {
  text: string;
  note: string;
  /** False when another attempt may render it. */
  isFinal: boolean;
}

const limits: TaskLimits = {
  // A long document takes a tenth of this, the worst one found by a search five times as long.
  deadlineMs: 500,
  // The first document after a pause waits for a thread that loads the renderer.
  maxWaitMs: 3_000,
  // 128 KiB, with two bytes for each character outside Latin-1.
  maxInputBytes: 300 * 1024,
  // Thirty times the longest document.
  maxResultBytes: 4 * 1024 * 1024,
};

// A document full of tables takes a second.
const asciidocLimits: TaskLimits = { ...limits, deadlineMs: 2_000 };

const mathLimits: TaskLimits = { ...limits, maxWaitMs: 2_000 };

/** A Markdown text by its origin, or an AsciiDoc file. */
export type DocumentKind = TextKind | 'asciidoc';

export interface DocumentSource {
  /** A blob id or a hash, which always names the same text. */
  key: string;
  /** Client in the fair queue of the worker pool. */
  client: string;
  source: () => string;
  showsRemoteImages: boolean;
  /** Defaults to a Markdown file. */
  kind?: DocumentKind;
  /** Origin of this server as the browser knows it, whose URLs are shortened; null leaves them as they are. */
  origin: string | null;
}

/**
 * Renders a document in the worker pool, or returns the cached result. Code and formulas are separate tasks, so that a
 * hostile one is shown as its source while the rest of the document is rendered.
 */
export async function prepareDocument(
  workers: WorkerPool,
  document: DocumentSource,
): Promise<PreparedDocument | PlainDocument> {
  const outcome = await renderInWorker(workers, document);
  return outcome.ok ? prepareParts(workers, outcome.value, document) : asText(document.source(), outcome.reason);
}

const renderInWorker = (
  workers: WorkerPool,
  { key, client, source, showsRemoteImages, kind = 'file' }: Omit<DocumentSource, 'origin'>,
) => {
  const common = {
    key: `${key}${kind === 'file' ? '' : ` ${kind}`}${showsRemoteImages ? ' with remote images' : ''}`,
    client,
  };
  return kind === 'asciidoc'
    ? workers.run<typeof runAsciidoc>({
        ...common,
        task: 'asciidoc',
        limits: asciidocLimits,
        input: () => ({ source: source(), showsRemoteImages }),
      })
    : workers.run<typeof runMarkdown>({
        ...common,
        task: 'markdown',
        limits,
        input: () => ({ source: source(), showsRemoteImages, kind }),
      });
};

/**
 * The visible texts of a document, in order: outside of code, links and comments. For a document that is shown as text,
 * its source.
 */
export async function shownTexts(workers: WorkerPool, document: Omit<DocumentSource, 'origin'>): Promise<string[]> {
  const outcome = await renderInWorker(workers, document);
  return outcome.ok ? textsOf(outcome.value.html) : [document.source()];
}

/** The texts with placeholders from the renderer. */
export function textsOf(html: string): string[] {
  const texts: string[] = [];
  fillPlaceholders(html, (kind, content) => {
    if (kind === 'text') texts.push(unescapeHtml(content));
    return '';
  });
  return texts;
}

/** Adds the results of separate tasks to a rendered document. */
export async function prepareParts(
  workers: WorkerPool,
  parts: RenderedMarkdown,
  { key, client, origin }: Pick<DocumentSource, 'key' | 'client' | 'origin'>,
): Promise<PreparedDocument> {
  const [code, formulas] = await Promise.all([
    highlightBlocks(workers, { key, blocks: parts.blocks, client }),
    renderFormulas(workers, { key, formulas: parts.formulas, client }),
  ]);
  const runs = readRuns(parts.html);
  return {
    parts,
    code: code.html,
    formulas: formulas.html,
    runs,
    references: [...runs.flat(), ...(origin === null ? [] : findInstanceUrls(parts.html, origin))],
    isFinal: code.isFinal && formulas.isFinal,
  };
}

async function renderFormulas(
  workers: WorkerPool,
  { key, formulas, client }: Pick<DocumentSource, 'key' | 'client'> & Pick<RenderedMarkdown, 'formulas'>,
): Promise<{ html: readonly (string | null)[]; isFinal: boolean }> {
  if (formulas.length === 0) return { html: [], isFinal: true };
  const outcome = await workers.run<typeof runMath>({
    task: 'math',
    key,
    input: () => ({ formulas }),
    client,
    limits: mathLimits,
  });
  return outcome.ok ? { html: outcome.value, isFinal: true } : { html: [], isFinal: outcome.reason !== 'busy' };
}

/** The references of each text with a placeholder; beyond a limit per document they stay text. */
function readRuns(html: string): Reference[][] {
  let left: number = issueLimits.referencesPerText;
  return textsOf(html).map((text) => {
    const found = left === 0 ? [] : parseReferences(text).slice(0, left);
    left -= found.length;
    return found;
  });
}

function asText(text: string, reason: string): PlainDocument {
  return {
    text,
    note:
      reason === 'busy'
        ? t('markdown.prepare_document.this_document_is_shown_as_text')
        : t('markdown.prepare_document.this_document_is_shown_as_text_2'),
    isFinal: reason === 'input_too_large' || reason === 'result_too_large',
  };
}
