import { z } from 'zod';
import type { WebDeps } from '../../../web/index.ts';
import { invalid, nullIfNotFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { showEntry, showWithContent } from '../shapes/contents-payloads.ts';
import { contents } from '../shapes/contents-schemas.ts';
import { resolveRef } from './trees-and-archives.ts';

/** Several files at once, and the contents of a path that may be a file or a folder, as in Gitea. */
const at = '/repos/{owner}/{name}';
const read = { tag: 'Contents', access: 'repository:read', cost: 'objects', status: 200 } as const;
const ref = z.string().optional().describe('Branch, tag or commit ID; defaults to the default branch');

/** Limit per call; for more, clone the repository. */
const mostFiles = 50;
const files = z.object({ files: z.array(z.string().max(4096)).max(mostFiles) });

interface Place {
  found: Found;
  deps: Pick<WebDeps, 'git'>;
  origin: string;
}

/** In the requested order; null for an absent file or a folder. */
async function showFiles({ found, deps, origin }: Place, name: string | undefined, paths: readonly string[]) {
  const commit = await resolveRef(deps, found, name);
  const place = { origin, at: found.canonical, ref: name ?? found.repository.defaultBranch, commit };
  const shown: (z.output<typeof contents> | null)[] = [];
  // Sequentially: each holds its content in memory.
  for (const path of paths) {
    const file = path.split('/').filter(Boolean).join('/');
    const entry = await deps.git.objects.entryAt(found.path, commit, file).catch(nullIfNotFound);
    const isFile = entry !== null && entry.kind !== 'folder';
    shown.push(isFile ? await showWithContent(deps, found.path, file, entry, place) : null);
  }
  return json(shown);
}

export const manyContentsOperations = [
  operation({
    ...read,
    id: 'getFileContents',
    method: 'GET',
    path: `${at}/file-contents`,
    summary: 'Get several files with their content, with null for missing files',
    refuses: [422],
    query: z.object({
      ref,
      body: z
        .string()
        .max(64 * 1024)
        .describe('{"files": ["README.md"]}'),
    }),
    response: z.array(contents.nullable()),
    run({ query, ...place }) {
      let given: unknown = null;
      try {
        given = JSON.parse(query.body);
      } catch {
        // Refused below, like any other value that is not a list of files.
      }
      const asked = files.safeParse(given);
      if (!asked.success) throw invalid('invalid_input', `Name at most ${mostFiles} files as JSON.`, { field: 'body' });
      return showFiles(place, query.ref, asked.data.files);
    },
  }),
  operation({
    ...read,
    id: 'postFileContents',
    method: 'POST',
    path: `${at}/file-contents`,
    summary: 'Get several files with their content, with null for missing files',
    description: 'This POST request only reads; a body can be longer than a URL.',
    maxJsonBytes: 256 * 1024,
    query: z.object({ ref }),
    body: files,
    response: z.array(contents.nullable()),
    run: ({ query, body, ...place }) => showFiles(place, query.ref, body.files),
  }),
  operation({
    ...read,
    id: 'getContentsExtended',
    method: 'GET',
    path: `${at}/contents-ext/{filepath}`,
    summary: 'Get a file with its content, or list a folder, in separate fields',
    query: z.object({
      ref,
      includes: z.string().max(200).optional().describe('Has no effect: all fields are included'),
    }),
    response: z
      .strictObject({ file_contents: contents.nullable(), dir_contents: z.array(contents).nullable() })
      .meta({ id: 'ContentsExtResponse' }),
    async run({ found, params, query, deps, origin }) {
      const commit = await resolveRef(deps, found, query.ref);
      const place = { origin, at: found.canonical, ref: query.ref ?? found.repository.defaultBranch, commit };
      const path = params.filepath.split('/').filter(Boolean).join('/');
      const entry = path === '' ? null : await deps.git.objects.entryAt(found.path, commit, path);
      if (entry !== null && entry.kind !== 'folder')
        return json({
          file_contents: await showWithContent(deps, found.path, path, entry, place),
          dir_contents: null,
        });
      const { entries } = await deps.git.objects.tree(found.path, commit, path, { withSizes: true });
      const inside = (name: string): string => (path === '' ? name : `${path}/${name}`);
      return json({
        file_contents: null,
        dir_contents: entries.map((each) => showEntry(inside(each.name), each, place)),
      });
    },
  }),
];
