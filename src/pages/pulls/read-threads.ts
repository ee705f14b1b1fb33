import type { ChangedFile } from '../../git/index.ts';
import { pathText } from '../../pulls/index.ts';
import type { ListedThread } from '../../pulls/index.ts';
import { noRef, nullIfNotFound } from '../../kernel/index.ts';
import { viewCodeText } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { readTabClasses } from '../code/read-editor-configs.ts';
import { decodeFileText } from '../app/decode-text.ts';
import { pullAt } from './changes-urls.ts';
import type { ChangesUrlBuilder } from './changes-urls.ts';
import type { PullsDeps } from './deps.ts';
import type { ChangesForms } from './comment-form.ts';
import type { PlacedThread } from './place-threads.ts';
import { viewThreads } from './thread.view.ts';

/** Maximum number of threads whose current lines are read, for display beside the old ones. */
const maxCompared = 20;
const maxBytes = 1024 * 1024;

/** The threads of a page with their places in the shown round. */
export async function readThreads(
  context: RepositoryContext,
  deps: PullsDeps,
  {
    round,
    commit,
    files,
    address,
    forms,
    mayReview,
    mayApply,
  }: {
    round: number;
    /** Head commit of the round. */
    commit: string;
    files: readonly ChangedFile[];
    address: ChangesUrlBuilder;
    forms: ChangesForms;
    mayReview: boolean;
    mayApply: boolean;
  },
): Promise<PlacedThread[]> {
  const threads = await deps.pulls.threads.list(context.viewer, pullAt(context), { round });
  const views = await viewThreads(context, deps, threads, {
    address,
    editing: forms.edit ?? readEdited(context),
    replying: forms.reply ?? null,
    mayReview,
    mayApply,
    tabsOf: await readTabClasses(
      context,
      deps,
      commit,
      threads.flatMap(({ path }) => path ?? []),
    ),
    linesNow: await readLinesNow(context, deps, threads, files),
  });
  return threads.map((thread, at) => ({ thread, view: views[at]! }));
}

/** `?edit=<thread>:<position>`: the comment whose text is in a form. */
export function readEdited({ query }: RepositoryContext) {
  const [, threadId = '', position] = /^([\w-]{1,64}):(\d{1,9})$/.exec(query.get('edit') ?? '') ?? [];
  return position === undefined ? null : { threadId, position: Number(position), body: null };
}

/** The current lines of changed places, by thread id. */
async function readLinesNow(
  { found }: RepositoryContext,
  { git }: PullsDeps,
  threads: readonly ListedThread[],
  files: readonly ChangedFile[],
): Promise<Map<string, string[]>> {
  const lines = new Map<string, string[]>();
  const changed = threads.filter(({ place, side }) => place?.state === 'changed' && side === 'NEW');
  for (const { id, place } of changed.slice(0, maxCompared)) {
    const file = files.find(({ newPath }) => pathText(newPath) === place!.path);
    if (file === undefined || place!.firstLine === null || noRef.test(file.newOid)) continue;
    const blob = await git.objects.blob(found.path, file.newOid, { maxBytes }).catch(nullIfNotFound);
    const text = blob?.content ? decodeFileText(blob.content) : null;
    if (text === null) continue;
    const all = text.text.split('\n');
    lines.set(id, all.slice(place!.firstLine - 1, place!.lastLine ?? place!.firstLine).map(viewCodeText));
  }
  return lines;
}
