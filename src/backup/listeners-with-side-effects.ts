/** Listeners of pushes that tell other hosts: what they have told is not told twice after a way back. */
export const listenersWithSideEffects: readonly string[] = ['webhooks', 'federation'];
