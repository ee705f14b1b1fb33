import type { ConflictLine, ConflictText } from '../../git/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { MergeBox, PullConflicts } from '../../pulls/index.ts';
import { t } from '../../translation/index.ts';
import { nullOnTimeout } from '../app/null-on-timeout.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { lineHtml } from '../app/code-html.ts';
import { readTabClasses } from '../code/read-editor-configs.ts';
import type { TabClasses } from '../code/read-editor-configs.ts';
import { decodeFileText } from '../app/decode-text.ts';
import { issueAt } from '../issues/conversation.reply.ts';
import type { PullsDeps } from './deps.ts';

/** Time that the page waits for the texts; later results are on the next view. */
const waitMs = 250;

/** Maximum number of files listed by name. */
const maxNamed = 20;

/** Number of lines in files that are unfolded initially. */
const unfoldedLines = 60;

interface ConflictFileView {
  path: string;
  /** The kind of conflict of a file without conflict markers. */
  reason: string | null;
  /** Rows of a table, escaped; null for none. */
  html: string | null;
  layout: 'conflict';
  /** The CSS class of its tab width; null for the default. */
  tabs: string | null;
  isOpen: boolean;
  isCut: boolean;
}

const layout = 'conflict' as const;

export interface ConflictsView {
  files: ConflictFileView[];
  hasMore: boolean;
  /** The texts are still being read, or exceed the limits. */
  state: 'reading' | 'failed' | 'read';
  commands: string;
}

/** The conflicts, or the reason for their absence. */
export type ReadConflicts = (PullConflicts & { tabsOf: TabClasses }) | 'reading' | 'failed' | null;

/** The conflicts of a pull request if they are known or found quickly; otherwise git continues the search. */
export async function readConflicts(
  context: RepositoryContext,
  deps: PullsDeps,
  box: MergeBox | null,
): Promise<ReadConflicts> {
  if (box?.state.mergeState !== 'CONFLICT') return null;
  const reading = deps.pulls
    .conflicts(context.viewer, issueAt(context))
    .catch((error: unknown) =>
      isDomainError(error) && error.code === 'unavailable' ? ('reading' as const) : ('failed' as const),
    );
  const read = await nullOnTimeout(
    reading.then((found) => ({ found })),
    waitMs,
  );
  if (read === null) return 'reading';
  if (read.found === null || typeof read.found === 'string') return read.found;
  const { files, headOid } = read.found;
  const tabsOf = await readTabClasses(
    context,
    deps,
    headOid,
    files.slice(0, maxNamed).map(({ path }) => path),
  );
  return { ...read.found, tabsOf };
}

/**
 * @param names of the two branches, for the conflict markers
 */
export function viewConflicts(
  box: MergeBox,
  read: ReadConflicts,
  names: { base: string; head: string },
  commands: string,
): ConflictsView | null {
  const { mergeState, conflicts } = box.state;
  if (mergeState !== 'CONFLICT') return null;
  const texts = typeof read === 'object' && read !== null ? read : null;
  const withText = (texts?.files ?? []).slice(0, maxNamed);
  const nameOnly = conflicts.slice(withText.length, maxNamed);
  let lines = 0;
  return {
    files: [
      ...withText.map((file) => {
        lines += file.hunks.reduce((sum, hunk) => sum + hunk.length, 0);
        return viewFile(file, texts!, names, lines <= unfoldedLines);
      }),
      ...nameOnly.map((path) => ({
        path: viewName(path),
        reason: null,
        html: null,
        layout,
        tabs: null,
        isOpen: false,
        isCut: false,
      })),
    ],
    hasMore: conflicts.length > maxNamed,
    state: typeof read === 'string' ? read : 'read',
    commands,
  };
}

function viewFile(
  { path, kind, hunks, cutShort }: ConflictText,
  { baseOid, headOid, tabsOf }: PullConflicts & { tabsOf: TabClasses },
  { base, head }: { base: string; head: string },
  isOpen: boolean,
): ConflictFileView {
  const reasons = {
    marked: null,
    binary: t('pulls.conflicts.both_sides_changed_this_binary_file'),
    too_large: t('pulls.conflicts.it_is_too_large_to_display'),
    gone_in_ours: t('pulls.conflicts.it_was_deleted_or_renamed_in', { base, head }),
    gone_in_theirs: t('pulls.conflicts.it_was_deleted_or_renamed_in', { base: head, head: base }),
    other: t('pulls.conflicts.the_two_sides_cannot_be_combined'),
  };
  const named = (line: ConflictLine): string => {
    const text = textOf(line);
    return line.kind === 'mark' ? text.replace(baseOid, base).replace(headOid, head) : text;
  };
  return {
    path: viewName(path),
    reason: reasons[kind],
    html:
      hunks.length === 0
        ? null
        : hunks.map((hunk) => hunkHtml(hunk, named)).join('<tr class="hunk"><td colspan="2">⋯</td></tr>'),
    layout,
    tabs: tabsOf(path),
    isOpen,
    isCut: cutShort,
  };
}

const hunkHtml = (hunk: readonly ConflictLine[], textOfLine: (line: ConflictLine) => string): string =>
  hunk
    .map((line) => {
      const look = line.kind === 'context' ? '' : ` class="${line.kind}"`;
      return `<tr${look}><td class="number">${line.number}</td><td>${lineHtml(textOfLine(line))}</td></tr>`;
    })
    .join('');

/** Decodes each line by itself: lines come from files in any encoding. */
const textOf = ({ text }: ConflictLine): string => decodeFileText(text)?.text ?? text.toString('latin1');
