import t from 'tap';
import { describePushTrigger } from '../../../src/pages/runs/trigger-filters.ts';

const only = (...patterns: string[]) => ({ kind: 'only' as const, patterns });
const ignore = (...patterns: string[]) => ({ kind: 'ignore' as const, patterns });
const none = { branches: null, tags: null, paths: null };

t.test('the pushes that start a workflow are sentences', async (t) => {
  const rows: [Parameters<typeof describePushTrigger>[0], string[]][] = [
    [none, ['A push to any branch or tag']],
    [{ ...none, branches: only('main') }, ['A push to main']],
    [{ ...none, branches: only('main', 'rel/**') }, ['A push to main or rel/**']],
    [{ ...none, tags: only('v*') }, ['A push of the tag v*']],
    [{ ...none, tags: ignore('v0.*') }, ['A push of any tag but v0.*']],
    [
      { branches: only('rel/**', '!rel/old/**'), tags: only('v[0-9]+.*'), paths: only('src/**') },
      ['A push to rel/**, but not rel/old/**, that changes src/**', 'A push of the tag v[0-9]+.*'],
    ],
    [
      { ...none, branches: only('rel/**', '!rel/old/**', '!rel/x', 'rel/old/1') },
      ['A push to rel/**, but not rel/old/** or rel/x, but rel/old/1'],
    ],
    [
      { ...none, branches: ignore('main', 'dev'), paths: ignore('docs/**') },
      ['A push to any branch but main or dev that changes any file but docs/**'],
    ],
    [{ ...none, paths: only('src/**') }, ['A push to any branch that changes src/**', 'A push of any tag']],
    [{ ...none, branches: only('a', 'b', 'c', 'd', 'e', 'f') }, ['A push to a or b or c or d or e …']],
  ];
  for (const [trigger, sentences] of rows) t.strictSame(describePushTrigger(trigger), sentences);
});
