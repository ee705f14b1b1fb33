import { bindDeps } from '../../kernel/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import { isPinned, listPins, movePin, pin, unpin } from './pins.ts';

/** Pinned repositories of users and organisations. */
export function createPinService(deps: RepositoryDeps) {
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  return {
    list: bind(listPins),
    isPinned: bind(isPinned),
    add: bindAt(pin),
    remove: bindAt(unpin),
    move: bindAt(movePin),
  };
}
