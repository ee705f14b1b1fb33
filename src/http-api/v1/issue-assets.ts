import { z } from 'zod';
import type { Viewer } from '../../access/index.ts';
import { attachmentPayload } from '../../gitea-shapes/index.ts';
import { attachment } from '../../gitea-shapes/schemas.ts';
import type { WebDeps } from '../../http/index.ts';
import type { Attachment, IssueAt } from '../../issues/index.ts';
import { attachmentMarkdown } from '../../issues/index.ts';
import { operation } from '../operation.ts';
import { rowNamed } from './ids.ts';
import { issueAt } from './issues-parts.ts';
import { json, noContent } from '../responses.ts';

const list = '/repos/{owner}/{name}/issues/{number}/assets';
const at = `${list}/{id}` as const;

const asset = z.object({
  ...attachment.shape,
  type: z.literal('attachment'),
  markdown: z.string().meta({ description: 'What a text says to show the file.' }),
});

function showAsset(
  file: Attachment,
  repository: { owner: string; name: string },
  origin: string,
): z.output<typeof asset> {
  return {
    ...attachmentPayload(file, repository, origin),
    type: 'attachment',
    markdown: attachmentMarkdown(file, repository),
  };
}

/** The UUID of an attachment that a path names by the integer of Gitea's clients; any other text as it is. */
async function idOf({ issues }: WebDeps, viewer: Viewer, at: IssueAt, id: string): Promise<string> {
  if (!/^\d{1,16}$/.test(id)) return id;
  return rowNamed(await issues.listAttachments(viewer, at), id)?.id ?? id;
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
    const id = await idOf(deps, viewer, issue, params.id);
    const { attachment: file } = await deps.issues.findAttachmentOf(viewer, issue, id);
    return json(showAsset(file, found.canonical, origin));
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
    const issue = issueAt(found, params.number);
    await deps.issues.removeAttachment(viewer, issue, await idOf(deps, viewer, issue, params.id));
    return noContent();
  },
});

export const issueAssetOperations = [listAssets, addAsset, getAsset, removeAsset];
