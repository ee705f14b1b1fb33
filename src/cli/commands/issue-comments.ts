import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { IssueAt, ListedEntry } from '../../issues/index.ts';
import { isoOrNull } from '../terminal/output.ts';
import { absoluteTime } from '../terminal/times.ts';
import { nameOf } from './find-person.ts';

/** All comments of an issue or pull request: as JSON, and as text below its description. */
export async function readComments(
  modules: Modules,
  viewer: PersonViewer,
  at: IssueAt,
): Promise<{ comments: object[]; text: string }> {
  const entries: ListedEntry[] = [];
  let from: number | null = 1;
  while (from !== null) {
    const page: { entries: ListedEntry[]; next: number | null } = await modules.issues.listEntries(viewer, at, {
      from,
      kinds: ['comment'],
    });
    entries.push(...page.entries.filter(({ deletedAt }) => deletedAt === null));
    from = page.next;
  }
  const writers = await modules.accounts.peopleById(entries.flatMap(({ authorId }) => authorId ?? []));
  const writerOf = ({ authorId, authorName }: ListedEntry): string =>
    authorId === null ? (authorName ?? 'ghost') : nameOf(writers.get(authorId));
  const comments = entries.map((entry) => ({
    position: entry.position,
    author: writerOf(entry),
    body: entry.body,
    hidden: entry.hiddenFor,
    createdAt: isoOrNull(entry.createdAt),
    editedAt: isoOrNull(entry.editedAt),
  }));
  const texts = entries.map((entry) => {
    const hidden = entry.hiddenFor === null ? '' : ` (hidden: ${entry.hiddenFor})`;
    return `\n--- ${writerOf(entry)}, ${absoluteTime(entry.createdAt)}, e${entry.position}${hidden}\n${entry.body ?? ''}\n`;
  });
  return { comments, text: texts.join('') };
}
