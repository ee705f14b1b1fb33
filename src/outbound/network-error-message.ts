/** Messages of network errors for administrators and owners; never shown to anonymous clients. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'there is no way to its address',
  ENETUNREACH: 'there is no way to its address',
  ETIMEDOUT: 'it did not answer in time',
  ENOTFOUND: 'its name does not resolve',
  ENODATA: 'its name does not resolve',
  ESERVFAIL: 'the name server failed',
  ETIMEOUT: 'the name server did not answer',
  ECONNABORTED: 'the request was given up',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an authority that is not trusted here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  EINNER: 'its name leads to an address that is not public',
  EPROTO: 'it does not speak TLS there',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there',
};

/** The message of a network error, or its code if it has none. */
export function networkErrorMessage(error: unknown): string {
  const all = error instanceof AggregateError ? error.errors : [error];
  const code = String((all[0] as NodeJS.ErrnoException | undefined)?.code ?? '');
  if (Object.hasOwn(words, code)) return words[code]!;
  if (code.startsWith('HPE_')) return 'its answer is not HTTP';
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
}
