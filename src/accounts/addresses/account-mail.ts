import type { Mail } from '../../mail/index.ts';

/** What this module needs of `mail`. */
export type AccountMail = Pick<Mail, 'isConfigured' | 'define' | 'enqueue' | 'wake'>;

/** An instance without mail. */
export const noMail: AccountMail = {
  isConfigured: false,
  define: () => {},
  enqueue: async () => {},
  wake: () => {},
};
