/** Where this server is reached. */
export interface ServerPlace {
  /** Public origin of this server; null when it is taken from the Host header of each request. */
  baseUrl: string | null;
  /** Origin of git over SSH, `ssh://git@host:port`; null when it is off. */
  sshOrigin: string | null;
}
