import { bindDeps } from '../../kernel/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import {
  acceptTransfer,
  declineTransfer,
  listOffers,
  offerOf,
  transferRepository,
  withdrawTransfer,
} from './transfer-repository.ts';
import { discardRepository, emptyTrash, listRestorable, listTrash, moveToTrash, restoreRepository } from './trash.ts';
import type { RestoreListener } from '../ports/restore-port.ts';

/** Deleted repositories until permanent deletion. */
export function createTrashService(deps: RepositoryDeps) {
  const bind = bindDeps(deps);
  return {
    move: bindRepositoryDeps(deps)(moveToTrash),
    restore: bind(restoreRepository),
    /** Registers a module that must catch up after a restore. */
    onRestore: (listener: RestoreListener): void => void deps.restoreListeners.push(listener),
    list: bind(listTrash),
    listRestorable: bind(listRestorable),
    empty: bind(emptyTrash),
    discard: bind(discardRepository),
  };
}

/** Transfers to another owner, who accepts or declines. */
export function createTransferService(deps: RepositoryDeps) {
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  return {
    start: bindAt(transferRepository),
    offerOf: bindAt(offerOf),
    withdraw: bindAt(withdrawTransfer),
    listOffers: bind(listOffers),
    accept: bind(acceptTransfer),
    decline: bind(declineTransfer),
  };
}
