/** Characters that a new password has at least, as internal/password asks for. */
export const passwordMin = 12;
