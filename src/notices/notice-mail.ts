import { deviceName } from '../accounts/index.ts';
import type { Person, SecurityEvent } from '../accounts/index.ts';
import { layout } from '../mail/index.ts';
import type { MailContent, MailMessage } from '../mail/index.ts';

/** What the queue keeps of a notice. */
export interface NoticeData {
  personId: string;
  /** The primary address at the time of the event: a new one could be that of an attacker. */
  to: string;
  event: SecurityEvent;
  /** Milliseconds since the epoch. */
  at: number;
}

interface Wording {
  subject: string;
  sentence: string;
  facts: [name: string, value: string][];
  /** Where a person sees and undoes it; a path. */
  path: string;
  action: string;
  /** What to do about an attack. */
  otherwise: string;
  /** Instead of the advice about attacks. */
  advice?: string;
}

const passwordSentences = {
  person: 'The password of your account was changed. All other sessions have ended.',
  administrator: 'An administrator has set a new password for your account. All your sessions have ended.',
  link: 'A new password was set for your account by a link for a forgotten password. All your sessions have ended.',
};

const factorNames = { totp: 'authenticator app', passkey: 'passkey', all: 'second factor' };

const changePassword = 'change your password';

function wordingOf(event: SecurityEvent, host: string): Wording {
  switch (event.kind) {
    case 'access_given':
      return accessWording(event);
    case 'signed_in':
      return {
        subject: `New sign-in to your account on ${host}`,
        sentence: 'There was a sign-in to your account from a device or a network that was not seen before.',
        facts: [
          ['Device', deviceName(event.userAgent)],
          ['Address', event.address === '' ? 'unknown' : event.address],
        ],
        path: '/settings/sessions',
        action: 'See your sessions',
        otherwise: `If it was not you, end that session and ${changePassword}.`,
      };
    case 'ssh_key_added':
      return {
        subject: `New SSH key in your account on ${host}`,
        sentence:
          event.uses === 'signing'
            ? 'An SSH key for signing was added to your account.'
            : 'An SSH key was added to your account. Who has it can push and clone as you.',
        facts: [
          ['Title', event.title],
          ['Fingerprint', event.fingerprint],
        ],
        path: '/settings/keys',
        action: 'See your SSH keys',
        otherwise: `If it was not you, remove the key and ${changePassword}.`,
      };
    case 'gpg_key_added':
      return {
        subject: `New GPG key in your account on ${host}`,
        sentence:
          'A GPG key was added to your account. Commits that are signed with it can show as verified in your name.',
        facts: [['Fingerprint', event.fingerprint]],
        path: '/settings/gpg',
        action: 'See your GPG keys',
        otherwise: `If it was not you, remove the key and ${changePassword}.`,
      };
    case 'token_added':
      return {
        subject: `New access token for your account on ${host}`,
        sentence: 'An access token was made for your account.',
        facts: [
          ['Name', event.name],
          ['Access', event.access],
        ],
        path: '/settings/tokens',
        action: 'See your access tokens',
        otherwise: `If it was not you, remove the token and ${changePassword}.`,
      };
    case 'second_factor_added':
      return {
        subject: `New ${factorNames[event.factor]} for your account on ${host}`,
        sentence: `A ${factorNames[event.factor]} was added to your account. It signs you in${event.factor === 'totp' ? ' together with your password' : ''}.`,
        facts: event.name === '' ? [] : [['Name', event.name]],
        path: '/settings/security',
        action: 'See your second factors',
        otherwise: `If it was not you, remove it and ${changePassword}.`,
      };
    case 'second_factor_removed':
      return {
        subject: `The ${factorNames[event.factor]} of your account on ${host} was removed`,
        sentence:
          event.by === 'administrator'
            ? 'An administrator has removed all second factors of your account. All your sessions have ended.'
            : `A ${factorNames[event.factor]} was removed from your account.`,
        facts: [],
        path: '/settings/security',
        action: 'See your second factors',
        otherwise: `If it was not you, ${changePassword} and set a second factor up again.`,
      };
    case 'account_linked':
      return {
        subject: `New linked account for your account on ${host}`,
        sentence: 'An account of another server was linked to your account. It signs you in.',
        facts: [
          ['Server', event.issuer],
          ...(event.label === '' ? [] : [['Name there', event.label] as [string, string]]),
        ],
        path: '/settings/linked-accounts',
        action: 'See your linked accounts',
        otherwise: `If it was not you, unlink it and ${changePassword}.`,
      };
    case 'recovery_code_used':
      return {
        subject: `A recovery code of your account on ${host} was used`,
        sentence: 'There was a sign-in to your account with your password and a recovery code.',
        facts: [['Codes left', String(event.left)]],
        path: '/settings/security',
        action: 'See your second factors',
        otherwise: `If it was not you, ${changePassword} and make new recovery codes.`,
      };
    case 'recovery_codes_made':
      return {
        subject: `New recovery codes for your account on ${host}`,
        sentence: 'New recovery codes were made for your account. The earlier ones have stopped working.',
        facts: [],
        path: '/settings/security',
        action: 'See your second factors',
        otherwise: `If it was not you, ${changePassword} and make new recovery codes.`,
      };
    case 'wrong_codes':
      return {
        subject: `Wrong codes for your account on ${host}`,
        sentence:
          'A sign-in with your right password has failed: all codes that were entered as the second factor were wrong.',
        facts: [
          ['Device', deviceName(event.userAgent)],
          ['Address', event.address === '' ? 'unknown' : event.address],
        ],
        path: '/settings/account',
        action: 'Change your password',
        otherwise: `If it was not you, your password is known to another person: ${changePassword}.`,
      };
    case 'password_changed':
      return {
        subject: `The password of your account on ${host} was changed`,
        sentence: passwordSentences[event.by],
        facts: [],
        path: '/settings/account',
        action: 'See your account',
        otherwise: 'If it was not you, ask an administrator for help at once.',
      };
    case 'primary_address_changed':
      return {
        subject: `The primary e-mail address of your account on ${host} was changed`,
        sentence: `Mail about your account does not go to ${event.from} any more.`,
        facts: [['New primary address', event.to ?? 'none']],
        path: '/settings/account',
        action: 'See your account',
        otherwise: `If it was not you, ${changePassword} and set the address back, or ask an administrator for help.`,
      };
  }
}

const segments = (...names: string[]): string => names.map(encodeURIComponent).join('/');

/** Who gave which access; nothing that an attacker gains, so without advice. */
function accessWording({ place, role, by }: Extract<SecurityEvent, { kind: 'access_given' }>): Wording {
  const { name, path, where } = {
    repository: () => {
      const { owner, name } = place as Extract<typeof place, { kind: 'repository' }>;
      return { name: `${owner}/${name}`, path: `/repos/${segments(owner, name)}`, where: 'the repository' };
    },
    organisation: () => ({ name: place.name, path: `/orgs/${segments(place.name)}`, where: 'the organisation' }),
    team: () => {
      const { organisation, name } = place as Extract<typeof place, { kind: 'team' }>;
      const path = `/orgs/${segments(organisation)}/teams/${segments(name)}`;
      return { name: `${organisation}/${name}`, path, where: 'the team' };
    },
  }[place.kind]();
  const who = by === null ? 'An administrator' : by.username;
  return {
    subject: `${who} added you to ${name}`,
    sentence: `${who} added you to ${where} ${name}.`,
    facts: role === null ? [] : [['Role', role]],
    path,
    action: `See the ${place.kind}`,
    otherwise: '',
    advice: 'You can leave it at any time.',
  };
}

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

export function noticeMail({ to, event, at }: NoticeData, { username }: Person, baseUrl: string): MailMessage {
  const { host } = new URL(baseUrl);
  const { subject, sentence, facts, path, action, otherwise, advice } = wordingOf(event, host);
  const content: MailContent = {
    title: subject,
    parts: [sentence, { facts: [['Account', username ?? ''], ...facts, ['When', `${moment.format(at)} UTC`]] }],
    action: { text: action, url: `${baseUrl}${path}` },
    after: [advice ?? `If it was you, no action is needed. ${otherwise}`],
    footer: [
      `You get this mail because you have an account on ${host}.`,
      { text: 'Choose which notices you get', url: `${baseUrl}/settings/notices` },
    ],
  };
  return { to, subject, ...layout(content) };
}
