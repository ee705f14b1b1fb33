import type { Context } from '../context.ts';

const unreadBodyMs = 10_000;

/**
 * Throws away what a refused client is still sending, for a while: closing at
 * once would reset the connection and take the answer with it.
 */
export function discardBody({ req }: Context): void {
  if (req.complete || req.destroyed) return;
  const cut = setTimeout(() => req.socket.destroy(), unreadBodyMs);
  const stop = (): void => clearTimeout(cut);
  req.once('end', stop).once('close', stop);
  req.resume();
}
