/** Made by ssh-keygen, with the fingerprints that it prints. The private halves were deleted. */
export const genuineKeys: readonly { type: string; base64: string; fingerprint: string }[] = [
  {
    type: 'ssh-ed25519',
    base64: 'AAAAC3NzaC1lZDI1NTE5AAAAIDQM3ETq+FeVbT0bjHGWqn/cJ+WRj0lfusLeXXvb/ald',
    fingerprint: 'SHA256:VsZXi+utm1SoYNPhOjAZMqUCZ1tMLCMuUHvsVCrBGKw',
  },
  {
    type: 'ecdsa-sha2-nistp256',
    base64:
      'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBABha9NYF73EY4gvqJPnxNQr/UvSIS0zwP1Pl7udha6IbhpV8Zyl62q8ZDqAElkGAWYHe2m2NKsrPtPuKRqcFa0=',
    fingerprint: 'SHA256:gFp0PWSMZTUDFgV+EBqfKwhwHp8erFPJ8sLsSRClSc8',
  },
  {
    type: 'ecdsa-sha2-nistp384',
    base64:
      'AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBKBTGtUYecvnUOqorZ7BvZ1FWIihxD5T6YiMBNo4Cf9tWP8rkNxDw0xqbvKzN9cM8Yi+ieHB0pT2TImahFKAZfH2C/AxI+1RKCRq0h7DYB+zXqJW8JKVYCZgxbv+1UPskQ==',
    fingerprint: 'SHA256:jUdn6RmfqbtOY1SYNSKlPjUgDbdPBEKxhCwet0ZBYx4',
  },
  {
    type: 'ecdsa-sha2-nistp521',
    base64:
      'AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBACazMI3UdMBQ/MaCKXYCMc/oyhjVdGcSrca9QtWARGGjSqeZYXGJxScQFJxiWcIjjHjURiDwjtlA0wm0Mvx85ZFiQCyaryXg+0eel45+/Brf7V76vWcEzvwc824SBLqks7IbxhZClKSg8IX94C2Zi5a9hKNvYeDeKqgpy2bLi63wri3uw==',
    fingerprint: 'SHA256:NQSQVSyQVvqZl3dKsH2d4qAoL2ljO9dSXRpzhrBmseI',
  },
  {
    type: 'ssh-rsa',
    base64:
      'AAAAB3NzaC1yc2EAAAADAQABAAABAQCMvUGnCOXSwgZctRDLbSIiQnoG+vJTLzujyuSBGw4b2LgNyGW5LN9lPdTvGr4K59+75Ek+jVJGICR/WMFhOQtrw/xhy3IYh0Cll6M6kOSEBlPrm47Sx4t/E3ZE/U5nTF/M2mUIGTQS7Y6W6JaeZStQokQaL7+B/Fy7a0FU4mVJThFZeq3CHoBpSnrDpFXZ4GDvqgQhqSf2u1Iguf8m3P0RntoPg7R73obNq2k1IvzEqT76FTy4bD7pQzTLB6qtPqLNR0oNFd78YenNU6M5CGG+nWejB8xY+znt5Gl2lvjMScjiFHJ3GeWtPq298WhgBaUIEF6e+c9nqAh6OLEGwnnV',
    fingerprint: 'SHA256:hgB4OIW1LvamcWg37KSFWnho993WzP/SK4SFspJ72oM',
  },
];

/** RSA of 1024 bits. */
export const weakRsaKey =
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDWNr1y8GXAJj3yb3WR20rbrmQePx/NRT/+P+S0DRzECTrIC0jtSk3WCYXuglClTF6psNOKVBbbGllXUw40b5fwT3S6644QXeN96KnzpW9rxI6oHYRWtSw0Ha+jv7xfD7LT0DHDpBeoA4pP7C5QrIhs1o3mkyBePa8W9KdRaP4Xzw== alice@laptop';

/** A certificate for an ECDSA key. */
export const certificate =
  'ecdsa-sha2-nistp256-cert-v01@openssh.com AAAAKGVjZHNhLXNoYTItbmlzdHAyNTYtY2VydC12MDFAb3BlbnNzaC5jb20AAAAg1FFeIYOvAnX1Z7q2HKBf9nOLWjUL/WVYDGtLXSl6zQQAAAAIbmlzdHAyNTYAAABBBABha9NYF73EY4gvqJPnxNQr/UvSIS0zwP1Pl7udha6IbhpV8Zyl62q8ZDqAElkGAWYHe2m2NKsrPtPuKRqcFa0AAAAAAAAAAAAAAAEAAAABeAAAAAAAAAAAAAAAAP//////////AAAAAAAAAIIAAAAVcGVybWl0LVgxMS1mb3J3YXJkaW5nAAAAAAAAABdwZXJtaXQtYWdlbnQtZm9yd2FyZGluZwAAAAAAAAAWcGVybWl0LXBvcnQtZm9yd2FyZGluZwAAAAAAAAAKcGVybWl0LXB0eQAAAAAAAAAOcGVybWl0LXVzZXItcmMAAAAAAAAAAAAAADMAAAALc3NoLWVkMjU1MTkAAAAgNAzcROr4V5VtPRuMcZaqf9wn5ZGPSV+6wt5de9v9qV0AAABTAAAAC3NzaC1lZDI1NTE5AAAAQCfys+n8jeU4UVtQzKFw81r5w6I9+rzPqOyOzAiX7hVbVej/gT+Stl8zjU80oBldQrs2FK3HjEoIF/fhB6qzdAo= alice@laptop';

export const dsaKey =
  'ssh-dss AAAAB3NzaC1kc3MAAACBAOWKNMHNe9EVzyYGiajUcXymwobG5xW/jnw6ndAzt4HO50oUOAJmU1nOPGATLAOoP6FPPokcVLUHg1KFvyKgs36fOo9b2sAiSUp48lznzGWBBc2VXKfT6Ckvv04StQdx4EXigni4iDIJscKo/tUEPHs1NGR4mB5hKRVUiK2XS1GPAAAAFQDAGJQBmFE6tNvMsyWzd54ixkTsJQAAAIBU1cnJpqND6Fs7D5nnEWPmSbeZ2HqDGBFV4Vr7VbOFpwPo8Iv787MjmFt3jBxPHI6+Ncbc4a9FF+W/sDF9ZtaQFGW8hvn/4qCYuhGrwApg3ByrW/YEmvvRKDXUc3eX/zqs1V5xtUbhXitSYzWDI6gK04D3qMMo3uxzhJoe/affOQAAAIBB9/kLHakp4Ncva5jUm1ErGu0x8e4yxgNQWxSm9+yRV8tGyZx1FD6XTT4ziX2YIu/U302G+TRBsM9QzrSXAWLtVDvaW1zUU3N2OOGc31l3hM0Cs67N7VSTKe2RhdLDyYPdTGS9oyjU0s1zgfR4nFJAXKfqDJ/YRoF8EfZs9fVAww== root@vm';
