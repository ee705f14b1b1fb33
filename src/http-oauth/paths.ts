/** The addresses of the protocol: Gitea's where it has one, which its clients have written into them. */
export const paths = {
  authorization: '/login/oauth/authorize',
  token: '/login/oauth/access_token',
  userinfo: '/login/oauth/userinfo',
  jwks: '/login/oauth/keys',
  introspection: '/login/oauth/introspect',
  revocation: '/login/oauth/revoke',
  device_authorization: '/login/oauth/device/code',
  /** A page of the website; see src/pages/oauth. */
  code_verification: '/login/device',
  end_session: '/login/oauth/logout',
} as const;

/** Where a person reads what an application asks for: a page of the website. */
export const consentPath = (uid: string): string => `/login/oauth/consent/${uid}`;
