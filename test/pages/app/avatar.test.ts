import t from 'tap';
import { avatarColours, drawAvatar } from '../../../src/pages/app/avatar.view.ts';

t.test('an avatar is the same for the same id, mirrored, and never empty', async (t) => {
  t.same(drawAvatar('a'), drawAvatar('a'));
  t.not(drawAvatar('a').path, drawAvatar('b').path);
  for (let index = 0; index < 500; index += 1) {
    const { path, tone } = drawAvatar(`id-${index}`);
    const squares = [...path.matchAll(/M(\d) (\d)h1v1h-1z/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
    if (squares.length === 0 || tone >= avatarColours.length) t.fail(path);
    for (const [x, y] of squares)
      if (!squares.some(([otherX, otherY]) => otherX === 6 - x && otherY === y)) t.fail(path);
  }
});
