/** Threads over threads. The same drawing as public/favicon.svg. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#2e47aa" />
      <path
        d="M6.5 11.5h19M6.5 16h19M6.5 20.5h19"
        stroke="#fff"
        strokeOpacity=".42"
        strokeWidth="2.3"
        strokeLinecap="round"
      />
      <path
        d="M11.5 6.5v4m0 2.2v6.6m0 2.2v4M16 6.5v7.8m0 3.4v7.8M20.5 6.5v4m0 2.2v6.6m0 2.2v4"
        stroke="#fff"
        strokeWidth="2.3"
        strokeLinecap="round"
      />
    </svg>
  );
}
