import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

/** Ink blue: calm beside the colours that states have. */
const iris: MantineColorsTuple = [
  '#eef2ff',
  '#dfe6fd',
  '#bccaf8',
  '#97adf4',
  '#7a95f0',
  '#5f7dea',
  '#4b69dd',
  '#3a56c5',
  '#2e47aa',
  '#263a8b',
];

/** Slate instead of Mantine's neutral greys, both as surfaces and as text. */
const dark: MantineColorsTuple = [
  '#d6dae3',
  '#b9bfcc',
  '#9aa2b3',
  '#767f92',
  '#3d4452',
  '#2d333f',
  '#232831',
  '#191d24',
  '#13161c',
  '#0e1015',
];
const gray: MantineColorsTuple = [
  '#f7f8fa',
  '#f0f2f5',
  '#e5e8ed',
  '#d8dce3',
  '#c4cad4',
  '#9aa3b1',
  '#6b7585',
  '#4d5666',
  '#343b48',
  '#1f2530',
];

export const theme = createTheme({
  colors: { iris, dark, gray },
  primaryColor: 'iris',
  // Shade 8 with automatic contrast: Mantine's own default fails WCAG AA.
  primaryShade: { light: 8, dark: 8 },
  black: '#171b23',
  autoContrast: true,
  defaultRadius: 'md',
  radius: { sm: '4px', md: '7px', lg: '12px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  headings: {
    fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.75rem', lineHeight: '1.25' },
      h2: { fontSize: '1.375rem', lineHeight: '1.3' },
      h3: { fontSize: '1.125rem', lineHeight: '1.35' },
      h4: { fontSize: '1rem', lineHeight: '1.4' },
      h5: { fontSize: '0.9375rem', lineHeight: '1.45' },
      h6: { fontSize: '0.875rem', lineHeight: '1.45' },
    },
  },
  components: {
    Modal: {
      styles: { title: { fontWeight: 650 } },
      defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.45 }, transitionProps: { duration: 120 } },
    },
    // A <header> in a dialog would be a second banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    Tooltip: { defaultProps: { openDelay: 350, withArrow: true } },
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, shadow: 'md', transitionProps: { duration: 80 } } },
    Table: { defaultProps: { verticalSpacing: 'var(--row-padding)', horizontalSpacing: 'sm', highlightOnHover: true } },
    Select: { defaultProps: { checkIconPosition: 'right' } },
    Skeleton: { defaultProps: { radius: 'sm' } },
    Badge: { defaultProps: { radius: 'sm' } },
  },
});

/** Where Mantine's defaults are too pale to read (WCAG AA on these surfaces), and the frame's own surfaces. */
export const variables: CSSVariablesResolver = (theme) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a6373',
    '--mantine-color-placeholder': '#6b7585',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-default-border': 'var(--mantine-color-gray-3)',
    '--surface-frame': 'var(--mantine-color-gray-0)',
    '--surface-raised': 'var(--mantine-color-white)',
    '--surface-hover': 'var(--mantine-color-gray-1)',
    '--surface-selected': 'var(--mantine-color-iris-0)',
    '--line': 'var(--mantine-color-gray-2)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-2)',
    '--mantine-color-placeholder': '#8a93a6',
    '--mantine-color-error': 'var(--mantine-color-red-5)',
    '--mantine-color-default-border': 'var(--mantine-color-dark-4)',
    '--surface-frame': 'var(--mantine-color-dark-8)',
    '--surface-raised': 'var(--mantine-color-dark-6)',
    '--surface-hover': 'var(--mantine-color-dark-6)',
    '--surface-selected': '#262f4d',
    '--line': 'var(--mantine-color-dark-5)',
    ...quiet(Object.keys(theme.colors)),
  },
});

/** Light variants in the dark, tinted instead of glowing: a warning there is no lamp. */
function quiet(colors: string[]): Record<string, string> {
  const mix = (c: string, share: number) =>
    `color-mix(in srgb, var(--mantine-color-${c}-7) ${share}%, var(--mantine-color-dark-7))`;
  const vars: Record<string, string> = {};
  for (const c of colors) {
    vars[`--mantine-color-${c}-light`] = mix(c, 24);
    vars[`--mantine-color-${c}-light-hover`] = mix(c, 34);
    vars[`--mantine-color-${c}-light-color`] = `var(--mantine-color-${c}-1)`;
  }
  return vars;
}
