import type { Mail } from '../../mail/index.ts';

/** Functions of `mail` that this module needs. */
export type AccountMail = Pick<Mail, 'isConfigured' | 'define' | 'enqueue' | 'wake'>;

/** Used on an instance without mail. */
export const noMail: AccountMail = {
  isConfigured: false,
  define: () => {},
  enqueue: async () => {},
  wake: () => {},
};
