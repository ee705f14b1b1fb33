import { z } from 'zod';
import type { Found } from '../../../repositories/index.ts';
import { releaseUploadMs } from '../../../releases/index.ts';
import type { DescribedRelease, ReleaseEdit, ReleaseKey, ReleaseRow } from '../../../releases/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { invalid } from '../../../kernel/index.ts';
import { releaseFilePayload, releasePayload } from '../../../gitea-shapes/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import {
  generatedNotes,
  newRelease,
  release as releaseShape,
  releaseEdit,
  releaseFile,
  releaseFileEdit,
} from './releases-schemas.ts';

const list = '/repos/{owner}/{name}/releases';
const one = `${list}/{id}` as const;
const byTag = `${list}/tags/{tag}` as const;
const assets = `${one}/assets` as const;
const asset = `${assets}/{asset}` as const;

const read = { tag: 'Releases', access: 'repository:read', cost: 'rows' } as const;
/** Creating a tag is a push. */
const write = { ...read, scope: 'write', cost: 'objects' } as const;

interface Place {
  found: Found;
  origin: string;
}

const show = (release: DescribedRelease, { found, origin }: Place) =>
  releasePayload(release, release.author, found, { baseUrl: origin });

async function showRow(deps: WebDeps, row: ReleaseRow, place: Place) {
  const [described] = await deps.releases.describe([row]);
  return show(described!, place);
}

/** Omitted fields stay unchanged, so they must not be set at all. */
const fieldsOf = (body: z.output<typeof releaseEdit>): ReleaseEdit => ({
  // As in Gitea, an empty text keeps the old value or means the default.
  tag: body.tag_name || undefined,
  target: body.target_commitish || undefined,
  tagMessage: body.tag_message || undefined,
  title: body.name || undefined,
  body: body.body || undefined,
  isDraft: body.draft,
  isPrerelease: body.prerelease,
  staysBehind: body.make_latest === undefined ? undefined : body.make_latest === 'false',
});

const truth = z.enum(['true', 'false']).optional();
const asBoolean = (value: 'true' | 'false' | undefined): boolean | undefined =>
  value === undefined ? undefined : value === 'true';

const listReleases = operation({
  ...read,
  id: 'listReleases',
  method: 'GET',
  path: list,
  summary: 'List a repository’s releases, newest first',
  description: 'Users with write access also see drafts.',
  status: 200,
  isPaged: true,
  query: z.object({
    page: z.int().min(1).max(10_000).default(1),
    limit: z.int().min(1).max(100).default(30).describe('Results per page'),
    draft: truth.describe('Only drafts (true) or no drafts (false)'),
    'pre-release': truth.describe('Only pre-releases (true) or no pre-releases (false)'),
  }),
  response: z.array(releaseShape),
  async run({ viewer, query, deps, ...place }) {
    const { page, limit } = query;
    const filter = { isDraft: asBoolean(query.draft), isPrerelease: asBoolean(query['pre-release']) };
    const { rows, total, isLast } = await deps.releases.listByPage(viewer, place.found.canonical, {
      page,
      limit,
      ...filter,
    });
    const described = await deps.releases.describe(rows);
    return listed(
      described.map((row) => show(row, place)),
      isLast ? null : page + 1,
      total,
    );
  },
});

const createRelease = operation({
  ...write,
  id: 'createRelease',
  method: 'POST',
  path: list,
  summary: 'Create a release',
  description: 'Unless it is a draft, this creates the tag if it does not exist.',
  status: 201,
  refuses: [409, 422],
  body: newRelease,
  maxJsonBytes: 512 * 1024,
  response: releaseShape,
  async run({ viewer, body, deps, ...place }) {
    const { tag_name: tag } = body;
    const fields = Object.fromEntries(Object.entries(fieldsOf(body)).filter(([, value]) => value !== undefined));
    const row = await deps.releases.create(viewer, place.found.canonical, { ...fields, tag });
    return created(await showRow(deps, row, place));
  },
});

/** The operations that find a release by its id or its tag are otherwise identical. */
function operationsOn(what: 'id' | 'tag' | 'latest') {
  const path = what === 'id' ? one : what === 'tag' ? byTag : (`${list}/latest` as const);
  const name = what === 'id' ? '' : what === 'tag' ? 'ByTag' : 'Latest';
  const keyOf = (params: Record<string, string>): ReleaseKey =>
    what === 'id' ? { id: params['id']! } : what === 'tag' ? { tag: params['tag']! } : 'latest';
  const get = operation({
    ...read,
    id: what === 'latest' ? 'getLatestRelease' : `getRelease${name}`,
    method: 'GET',
    path,
    summary:
      what === 'latest'
        ? 'Get the latest release: the newest one that is not a draft or pre-release and was not created with `make_latest` set to false'
        : 'Get a release',
    status: 200,
    response: releaseShape,
    async run({ viewer, params, deps, ...place }) {
      return json(show(await deps.releases.find(viewer, place.found.canonical, keyOf(params)), place));
    },
  });
  if (what === 'latest') return [get];
  const remove = operation({
    ...write,
    id: `deleteRelease${name}`,
    method: 'DELETE',
    path,
    summary: 'Delete a release and its files, but not its tag',
    status: 204,
    async run({ viewer, params, deps, found }) {
      await deps.releases.delete(viewer, found.canonical, keyOf(params));
      return noContent();
    },
  });
  return [get, remove];
}

const editRelease = operation({
  ...write,
  id: 'editRelease',
  method: 'PATCH',
  path: one,
  summary: 'Edit a release, publish a draft, or convert a release to a draft',
  description: 'Omitted fields remain unchanged. Publishing creates the tag if it does not exist.',
  status: 200,
  refuses: [409, 422],
  body: releaseEdit,
  maxJsonBytes: 512 * 1024,
  response: releaseShape,
  async run({ viewer, params, body, deps, ...place }) {
    const row = await deps.releases.edit(viewer, place.found.canonical, { id: params.id }, fieldsOf(body));
    return json(await showRow(deps, row, place));
  },
});

const writeNotes = operation({
  ...write,
  id: 'generateReleaseNotes',
  method: 'POST',
  path: `${list}/generate-notes`,
  summary: 'Generate release notes for the changes since the previous release, without storing them',
  status: 200,
  body: z.strictObject({
    tag_name: z.string().max(200),
    target_commitish: z.string().max(200).optional(),
    previous_tag_name: z.string().max(200).optional(),
  }),
  response: generatedNotes,
  async run({ viewer, body, deps, found }) {
    const { tag_name: tag, target_commitish: target, previous_tag_name: previous } = body;
    return json(await deps.releases.generateNotes(viewer, found.canonical, { tag, target, previous }));
  },
});

const listAssets = operation({
  ...read,
  id: 'listReleaseFiles',
  method: 'GET',
  path: assets,
  summary: 'List a release’s files',
  status: 200,
  response: z.array(releaseFile),
  async run({ viewer, params, deps, found, origin }) {
    const { tag, files } = await deps.releases.find(viewer, found.canonical, { id: params.id });
    return json(files.map((file) => releaseFilePayload(file, tag, found, { baseUrl: origin })));
  },
});

const addAsset = operation({
  ...write,
  cost: 'transfer',
  id: 'addReleaseFile',
  method: 'POST',
  path: assets,
  summary: 'Add a file to a release',
  description:
    'Send a form (multipart/form-data) with the file in the field `attachment`, or the file itself as application/octet-stream with its name in the query.',
  status: 201,
  refuses: [409, 422],
  body: 'file',
  query: z.object({ name: z.string().max(1_000).optional().describe('Overrides the name in the form') }),
  response: releaseFile,
  async run({ viewer, params, query, body, deps, found, origin }) {
    const key = { id: params.id };
    const at = found.canonical;
    const { tag } = await deps.releases.find(viewer, at, key);
    const options = { maxBytes: deps.releases.files.maxBytes, deadlineMs: releaseUploadMs, takesRaw: true };
    const file = await body.receive(options, ({ fileName, content }) => {
      const name = query.name ?? fileName;
      if (name === '') throw invalid('file_name_missing', 'Give the name of the file in the query.', { field: 'name' });
      return deps.releases.files.upload(viewer, at, key, { name, content });
    });
    return created(releaseFilePayload(file, tag, found, { baseUrl: origin }));
  },
});

const getAsset = operation({
  ...read,
  id: 'getReleaseFile',
  method: 'GET',
  path: asset,
  summary: 'Get a release file’s metadata; download the content from browser_download_url',
  status: 200,
  response: releaseFile,
  async run({ viewer, params, deps, found, origin }) {
    const which = { id: params.asset };
    const { release, file } = await deps.releases.files.find(viewer, found.canonical, { id: params.id }, which);
    return json(releaseFilePayload(file, release.tag, found, { baseUrl: origin }));
  },
});

const editAsset = operation({
  ...write,
  id: 'editReleaseFile',
  method: 'PATCH',
  path: asset,
  summary: 'Rename a release file',
  status: 201,
  refuses: [409, 422],
  body: releaseFileEdit,
  response: releaseFile,
  async run({ viewer, params, body, deps, found, origin }) {
    const [key, which] = [{ id: params.id }, { id: params.asset }];
    const { tag } = await deps.releases.find(viewer, found.canonical, key);
    const file = await deps.releases.files.rename(viewer, found.canonical, key, which, body.name);
    return json(releaseFilePayload(file, tag, found, { baseUrl: origin }));
  },
});

const removeAsset = operation({
  ...write,
  id: 'removeReleaseFile',
  method: 'DELETE',
  path: asset,
  summary: 'Remove a file from a release',
  status: 204,
  async run({ viewer, params, deps, found }) {
    await deps.releases.files.remove(viewer, found.canonical, { id: params.id }, { id: params.asset });
    return noContent();
  },
});

export const releaseOperations = [
  listReleases,
  createRelease,
  // Must precede `{id}`, which would also match.
  ...operationsOn('latest'),
  writeNotes,
  ...operationsOn('tag'),
  ...operationsOn('id'),
  editRelease,
  listAssets,
  addAsset,
  getAsset,
  editAsset,
  removeAsset,
];
