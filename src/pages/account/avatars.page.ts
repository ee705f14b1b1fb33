import { notFound } from '../../kernel/index.ts';
import { imageReply } from '../app/image-reply.ts';
import { content } from '../app/reply.ts';
import { avatarColours, drawAvatar } from '../app/avatar.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

const file = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.svg)?$/;

function drawnReply(id: string) {
  const { path, tone } = drawAvatar(id);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7" shape-rendering="crispEdges"><path fill="${avatarColours[tone]}" d="${path}"/></svg>`;
  return content('image/svg+xml', svg, {
    headers: {
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    },
  });
}

/**
 * `/avatars/{uuid}` is the uploaded picture of a user or an organisation; `/avatars/{uuid}.svg` the drawn one, which
 * any id has, so it does not reveal who exists.
 */
export const showAvatar: Page<RequestContext, AccountDeps> = async ({ params }, { avatars }) => {
  const [, id, isDrawn] = file.exec(params.file ?? '') ?? [];
  if (id === undefined) throw notFound();
  if (isDrawn) return drawnReply(id);
  const image = await avatars.open(id);
  if (image === null) throw notFound();
  return imageReply(image, 'public');
};
