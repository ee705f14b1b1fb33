import { bindDeps } from '../../kernel/index.ts';
import { bindAddress } from '../bind-address.ts';
import type { RepositoryDeps } from '../deps.ts';
import { isPinned, listPins, movePin, pin, unpin } from './pins.ts';

/** Repositories that a person or organisation shows first. */
export function createPinService(deps: RepositoryDeps) {
  const bind = bindDeps(deps);
  const bindAt = bindAddress(deps);
  return {
    list: bind(listPins),
    isPinned: bind(isPinned),
    add: bindAt(pin),
    remove: bindAt(unpin),
    move: bindAt(movePin),
  };
}
