import { hash } from 'node:crypto';

/** The picture of an owner or a repository: an uploaded one, or one drawn in the page. */
export type AvatarView = { src: string } | DrawnAvatar;

/** A picture made from an id: a mirrored grid of five by five squares. */
interface DrawnAvatar {
  /** The SVG path of all filled squares, in a box of 7 by 7 with a margin of one. */
  path: string;
  /** One of the colours of the stylesheet and of `avatarColours`. */
  tone: number;
}

/** Readable on white and on near-black, because avatars appear on both backgrounds. */
export const avatarColours = [
  '#c2562d',
  '#b0781f',
  '#6f8a2d',
  '#2f8f6b',
  '#2f7f9e',
  '#5b6fc4',
  '#8f5bb5',
  '#b5527f',
] as const;

/** An owner's picture. @param avatarAt upload time in epoch milliseconds; null for the drawn picture */
export function viewAvatar(id: string, avatarAt: number | null = null): AvatarView {
  return avatarAt === null ? drawAvatar(id) : { src: `/avatars/${id}?v=${avatarAt}` };
}

/** Cache of drawn pictures, some hundred bytes each: a list shows a hundred. */
const drawn = new Map<string, DrawnAvatar>();
const mostDrawn = 2_000;

/** The default avatar: the same id always gives the same picture (SPEC §4.3 shows it where an image is missing). */
export function drawAvatar(id: string): DrawnAvatar {
  let picture = drawn.get(id);
  if (picture === undefined) {
    if (drawn.size >= mostDrawn) drawn.clear();
    drawn.set(id, (picture = draw(id)));
  }
  return picture;
}

function draw(id: string): DrawnAvatar {
  const digest = hash('sha256', id, 'buffer');
  const squares: string[] = [];
  for (let column = 0; column < 3; column += 1) {
    for (let row = 0; row < 5; row += 1) {
      if (((digest[column * 5 + row] ?? 0) & 1) === 0) continue;
      squares.push(`M${column + 1} ${row + 1}h1v1h-1z`);
      if (column < 2) squares.push(`M${5 - column} ${row + 1}h1v1h-1z`);
    }
  }
  // About one id in 32,768 fills no square; its picture is a dot in the middle.
  return { path: squares.join('') || 'M3 3h1v1h-1z', tone: (digest[15] ?? 0) % avatarColours.length };
}
