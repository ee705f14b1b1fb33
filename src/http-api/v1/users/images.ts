import { noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';

const at = '/repos/{owner}/{name}/image';

export const getImage = operation({
  id: 'getImage',
  method: 'GET',
  path: at,
  tag: 'Images',
  summary: 'Get a repository’s custom image',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  response: 'bytes',
  async run({ viewer, found: { canonical }, deps }) {
    const image = await deps.repositories.images.open(viewer, canonical.owner, canonical.name);
    return {
      kind: 'bytes',
      type: image.type,
      body: image.stream(),
      headers: { 'Content-Length': String(image.bytes), 'Content-Security-Policy': "default-src 'none'; sandbox" },
    };
  },
});

export const replaceImage = operation({
  id: 'replaceImage',
  method: 'PUT',
  path: at,
  tag: 'Images',
  summary: 'Set a repository’s custom image',
  description: 'Send a PNG, JPEG, GIF or WebP file of at most 2,097,152 bytes with its own Content-Type.',
  access: 'repository:owner',
  cost: 'upload',
  status: 204,
  body: 'image',
  async run({ viewer, found: { canonical }, body, deps }) {
    await deps.repositories.images.replace(viewer, canonical.owner, canonical.name, body);
    return noContent();
  },
});

export const removeImage = operation({
  id: 'removeImage',
  method: 'DELETE',
  path: at,
  tag: 'Images',
  summary: 'Remove a repository’s custom image',
  access: 'repository:owner',
  cost: 'rows',
  status: 204,
  async run({ viewer, found: { canonical }, deps }) {
    await deps.repositories.images.remove(viewer, canonical.owner, canonical.name);
    return noContent();
  },
});
