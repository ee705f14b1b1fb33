import type { SecurityEvent } from '../accounts/index.ts';

/** Kinds of notices that a person can switch off, in the order of the settings page. */
export const noticeKinds = [
  'sign_in',
  'password',
  'primary_address',
  'ssh_key',
  'gpg_key',
  'access_token',
  'second_factor',
  'access',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

const kindsByEvent: Record<SecurityEvent['kind'], NoticeKind> = {
  access_given: 'access',
  signed_in: 'sign_in',
  password_changed: 'password',
  primary_address_changed: 'primary_address',
  ssh_key_added: 'ssh_key',
  gpg_key_added: 'gpg_key',
  token_added: 'access_token',
  second_factor_added: 'second_factor',
  second_factor_removed: 'second_factor',
  account_linked: 'second_factor',
  recovery_code_used: 'second_factor',
  recovery_codes_made: 'second_factor',
  wrong_codes: 'second_factor',
};

export const kindOf = ({ kind }: SecurityEvent): NoticeKind => kindsByEvent[kind];
