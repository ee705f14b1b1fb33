import t from 'tap';
import { viewPushInstructions } from '../../../src/pages/repository/push-instructions.view.ts';

t.test('commands to paste quote branch names for the shell', async (t) => {
  t.match(viewPushInstructions('https://x/y.git', 'y', 'main').existing, /git push -u origin main$/);
  t.match(viewPushInstructions('https://x/y.git', 'y', '$(touch hacked)').existing, /origin '\$\(touch hacked\)'$/);
  t.match(viewPushInstructions('https://x/y.git', 'y', "it's;ls").fresh, /git init -b 'it'\\''s;ls' y\n/);
});
