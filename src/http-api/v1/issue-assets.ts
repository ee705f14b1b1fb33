import { z } from 'zod';
import type { Attachment } from '../../issues/index.ts';
import { attachmentMarkdown, attachmentPath } from '../../issues/index.ts';
import { operation } from '../operation.ts';
import { issueAt } from './issues-parts.ts';
import { json, noContent } from '../responses.ts';
import { isoTime } from './payloads.ts';

const list = '/repos/{owner}/{name}/issues/{number}/assets';
const at = `${list}/{id}` as const;

const asset = z.object({
  id: z.uuid(),
  uuid: z.uuid().meta({ description: 'The same as `id`; Gitea has numbers there.' }),
  name: z.string(),
  size: z.int().meta({ description: 'In bytes.' }),
  download_count: z.int().meta({ description: 'Downloads are not counted: always 0.' }),
  created_at: z.iso.datetime(),
  browser_download_url: z.url(),
  type: z.literal('attachment'),
  markdown: z.string().meta({ description: 'What a text says to show the file.' }),
});

function showAsset(
  attachment: Attachment,
  repository: { owner: string; name: string },
  origin: string,
): z.output<typeof asset> {
  const { id, name, bytes, createdAt } = attachment;
  return {
    id,
    uuid: id,
    name,
    size: bytes,
    download_count: 0,
    created_at: isoTime(createdAt),
    browser_download_url: origin + attachmentPath(repository, id),
    type: 'attachment',
    markdown: attachmentMarkdown(attachment, repository),
  };
}

const listAssets = operation({
  id: 'listIssueAssets',
  method: 'GET',
  path: list,
  tag: 'Issues',
  summary: 'List the attachments of an issue',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  response: z.array(asset),
  async run({ viewer, found, params, deps, origin }) {
    const files = await deps.issues.listAttachments(viewer, issueAt(found, params.number));
    return json(files.map((file) => showAsset(file, found.canonical, origin)));
  },
});

const getAsset = operation({
  id: 'getIssueAsset',
  method: 'GET',
  path: at,
  tag: 'Issues',
  summary: 'Get an attachment',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  response: asset,
  async run({ viewer, found, params, deps, origin }) {
    const issue = issueAt(found, params.number);
    const { attachment } = await deps.issues.findAttachmentOf(viewer, issue, params.id);
    return json(showAsset(attachment, found.canonical, origin));
  },
});

const addAsset = operation({
  id: 'addIssueAsset',
  method: 'POST',
  path: list,
  tag: 'Issues',
  summary: 'Add an attachment to an issue',
  description:
    'The body is a form (multipart/form-data) with the file in the field `attachment`. The file is stored, and the text of the issue gets a line that shows it, which needs the right to edit the text. Images are stored without their metadata.',
  access: 'repository:read',
  scope: 'write',
  cost: 'upload',
  status: 201,
  body: 'file',
  query: z.object({ name: z.string().max(255).optional().meta({ description: 'Instead of the name in the form.' }) }),
  response: asset,
  async run({ viewer, found, params, query, body, deps, origin }) {
    const issue = issueAt(found, params.number);
    const file = await body.receive({ maxBytes: deps.issues.attachmentBytes }, ({ fileName, content }) =>
      deps.issues.attach(viewer, issue, { name: query.name ?? fileName, content }),
    );
    return json(showAsset(file, found.canonical, origin));
  },
});

const removeAsset = operation({
  id: 'removeIssueAsset',
  method: 'DELETE',
  path: at,
  tag: 'Issues',
  summary: 'Remove an attachment; links to it in texts break',
  access: 'repository:read',
  scope: 'write',
  cost: 'rows',
  status: 204,
  async run({ viewer, found, params, deps }) {
    await deps.issues.removeAttachment(viewer, issueAt(found, params.number), params.id);
    return noContent();
  },
});

export const issueAssetOperations = [listAssets, addAsset, getAsset, removeAsset];
