/** Access levels of a repository; each includes the previous ones. */
export type Level = 'none' | 'read' | 'write' | 'admin';

const order: readonly Level[] = ['none', 'read', 'write', 'admin'];

/** Whether the level `held` includes the level `needed`. */
export function allows(held: Level, needed: Level): boolean {
  return order.indexOf(held) >= order.indexOf(needed);
}

export const higher = (a: Level, b: Level): Level => (allows(a, b) ? a : b);
export const lower = (a: Level, b: Level): Level => (allows(a, b) ? b : a);
