import { dateFormat } from '../../translation/index.ts';
import type { HistoryEntry } from '../../git/index.ts';
import { viewName } from '../app/printable-names.ts';
import { codeUrl } from '../app/code-urls.ts';
import type { CommitAuthors } from './commit-authors.ts';
import { viewCommitLine } from './commit-line.view.ts';
import type { CommitLineView } from './commit-line.view.ts';
import type { ReferenceLinks } from '../markdown/reference-links.ts';
import type { StatusIconView } from '../app/status-icon.view.ts';
import type { SignatureView } from './signature.view.ts';

interface HistoryRow extends CommitLineView {
  /** The file at this commit; null when the page shows no file, or the commit removed it. */
  file: string | null;
  /** The old name of the file, in commits before its rename. */
  movedFrom: string | null;
  signature: SignatureView | null;
}

interface HistoryDay {
  /** `20 November 2026` */
  title: string;
  rows: HistoryRow[];
}

const format = dateFormat({ dateStyle: 'long' });

/** The day in the committer's time zone: commits of one evening stay together. */
function dayOf(at: number, offsetMinutes: number): string {
  return format(new Date(Math.min(Math.max(at + offsetMinutes * 60_000, -8.64e15), 8.64e15)));
}

export function viewHistoryDays(
  entries: readonly HistoryEntry[],
  {
    repositoryUrl,
    file,
    now,
    authors,
    signatures,
    commitStatusOf,
    references,
  }: {
    repositoryUrl: string;
    file: Buffer;
    now: number;
    authors: CommitAuthors;
    signatures: readonly (SignatureView | null)[];
    commitStatusOf: (oid: string) => StatusIconView | null;
    references: ReferenceLinks;
  },
): HistoryDay[] {
  const days: HistoryDay[] = [];
  entries.forEach(({ commit, file: then, isThere }, index) => {
    const title = dayOf(commit.committer.at, commit.committer.offsetMinutes);
    const before = entries[index - 1]?.file ?? file;
    const row: HistoryRow = {
      ...viewCommitLine(commit, repositoryUrl, now, authors, commitStatusOf(commit.oid), references),
      file: file.length === 0 || !isThere ? null : codeUrl(repositoryUrl, 'tree', commit.oid, then),
      movedFrom: then.equals(before) ? null : viewName(then.toString()),
      signature: signatures[index] ?? null,
    };
    if (days.at(-1)?.title === title) days.at(-1)!.rows.push(row);
    else days.push({ title, rows: [row] });
  });
  return days;
}
