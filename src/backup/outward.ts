/** Listeners of pushes that tell other hosts: what they have told is not told twice after a way back. */
export const outward: readonly string[] = ['webhooks', 'federation'];
