import type { Route } from '../route.ts';
import { showChanges } from './changes.page.ts';
import { showPullDiff, showPullPatch } from './pull-patch.page.ts';

const one = '/repos/:owner/:name/pulls/:number';

/** What a pull request changes. These precede `…/pulls/:number`, which matches the addresses with an ending, too. */
export const changesRoutes: readonly Route[] = [
  { method: 'GET', path: `${one}.diff`, access: 'repository:read', cost: 'objects', page: showPullDiff },
  { method: 'GET', path: `${one}.patch`, access: 'repository:read', cost: 'objects', page: showPullPatch },
  { method: 'GET', path: `${one}/changes`, access: 'repository:read', cost: 'objects', page: showChanges },
];
