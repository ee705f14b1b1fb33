import { conflict } from '../kernel/index.ts';
import type { FederationSettings } from './deps.ts';

/** Whether anything is sent or accepted (SPEC §1). Decided once, at start. */
export function isFederationOn({ obstacles }: Pick<FederationSettings, 'obstacles'>): boolean {
  return obstacles.length === 0;
}

/** Throws `federation_off` unless federation works. */
export function requireFederationOn({ settings }: { settings: Pick<FederationSettings, 'obstacles'> }): void {
  if (isFederationOn(settings)) return;
  throw conflict('federation_off', `Federation is off. ${settings.obstacles.join(' ')}`);
}
