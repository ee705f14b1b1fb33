import { z } from 'zod';
import { notFound } from '../../../kernel/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { giteaCommit } from '../shapes/commits-schemas.ts';
import { showGiteaCommits } from '../shapes/commit-payloads.ts';
import { resolveRef } from './trees-and-archives.ts';

/** A commit as plain text, and its note. */
const at = '/repos/{owner}/{name}/git';
const common = { method: 'GET', tag: 'Contents', access: 'repository:read', cost: 'objects', status: 200 } as const;

const text = (id: string, format: 'diff' | 'patch', summary: string) =>
  operation({
    ...common,
    id,
    path: `${at}/commits/{commit}.${format}`,
    summary,
    response: 'bytes',
    async run({ found, params, deps }) {
      const oid = await resolveRef(deps, found, params.commit);
      const { parents } = await deps.git.objects.commit(found.path, oid);
      // A merge has no patch in mail format.
      const body =
        format === 'patch' && parents.length < 2
          ? await deps.git.queries.mailPatch(found.path, oid)
          : await deps.git.queries.plainDiff(found.path, { from: parents[0] ?? null, to: oid });
      const headers = { 'X-Content-Type-Options': 'nosniff', ETag: `"${oid}.${format}"` };
      return { kind: 'bytes', type: 'text/plain; charset=utf-8', body, headers };
    },
  });

const getNote = operation({
  ...common,
  id: 'getGitNote',
  path: `${at}/notes/{commit}`,
  summary: 'Get a commit’s git note',
  query: z.object({
    verification: z.enum(['true', 'false']).optional().describe('Defaults to true'),
    files: z.enum(['true', 'false']).optional().describe('Has no effect'),
  }),
  response: z.strictObject({ message: z.string(), commit: giteaCommit }).meta({ id: 'Note' }),
  async run({ found, params, query, deps, origin }) {
    const oid = await resolveRef(deps, found, params.commit);
    const message = await deps.git.queries.note(found.path, oid);
    if (message === null) throw notFound('note_not_found', 'This commit has no note.');
    const [shown] = await showGiteaCommits(deps, [await deps.git.objects.commit(found.path, oid)], { origin, found });
    const commit = query.verification === 'false' ? { ...shown!.commit, verification: null } : shown!.commit;
    return json({ message, commit: { ...shown!, commit } });
  },
});

/** Must precede `{commit}`, which would take the extension as part of a name. */
export const commitPatchOperations = [
  text('getCommitDiff', 'diff', 'Get a commit’s changes as a diff for `git apply`'),
  text('getCommitPatch', 'patch', 'Get a commit as an email patch for `git am`'),
  getNote,
];
