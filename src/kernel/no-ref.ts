/** Matches the id that stands for "no ref" in the commands of a push, of SHA-1 and SHA-256 (gitprotocol-pack(5)). */
export const noRef: RegExp = /^0+$/;
