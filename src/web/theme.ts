import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { createElement, type FocusEvent } from 'react'

/**
 * The one visual language: deep water blue for actions, cool greys for everything else, colour for meaning only. Surfaces are
 * separated by hairlines and two background tones, never by heavy shadows. Every text colour has a contrast of 4.5:1 on its surfaces,
 * in both schemes.
 */

const sluice: MantineColorsTuple = [
  '#edf7f9',
  '#d6ecf1',
  '#afdae4',
  '#82c5d4',
  '#55adc1',
  '#2f93aa',
  '#177a92',
  '#0e667c',
  '#0b5265',
  '#083e4d',
]

const red: MantineColorsTuple = [
  '#fdf1f1',
  '#fae0e0',
  '#f5bfbf',
  '#f09a9a',
  '#ea7676',
  '#e25353',
  '#d63434',
  '#c22f2f',
  '#a12626',
  '#7d1d1d',
]

const gray: MantineColorsTuple = [
  '#f6f8f9',
  '#edf1f3',
  '#e3e9ec',
  '#d5dde1',
  '#bcc8ce',
  '#93a2aa',
  '#5d6d76',
  '#46545c',
  '#2f3b42',
  '#1a2328',
]

const dark: MantineColorsTuple = [
  '#dde5e9',
  '#bac6cc',
  '#a0aeb5',
  '#7a8992',
  '#313c43',
  '#28323a',
  '#1e272d',
  '#161d22',
  '#10161a',
  '#0a0e11',
]

const sans = [
  '-apple-system',
  'BlinkMacSystemFont',
  '"Segoe UI"',
  'Roboto',
  '"Helvetica Neue"',
  'Arial',
  // Where none of these is, as on many Linux machines, Latin letters and quotes must not come from a Chinese font.
  '"Liberation Sans"',
  '"Noto Sans"',
  '"DejaVu Sans"',
  // The fonts of the chosen language (styles.css).
  'var(--font-cjk)',
  'sans-serif',
].join(', ')

const mono = 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", "Noto Sans Mono CJK SC", monospace'

function VisibilityIcon({ reveal }: { reveal: boolean }) {
  return createElement(reveal ? IconEyeOff : IconEye, { size: 17, stroke: 1.6 })
}

/** What is typed replaces the choice, instead of being added to its name. */
function selectText({ currentTarget: input }: FocusEvent<HTMLInputElement>): void {
  if (!input.readOnly) input.select()
}

/** Lists of choices scroll by themselves, so that the field they belong to owns the keys. */
const choices = { defaultProps: { withScrollArea: false }, styles: { options: { maxHeight: 260, overflowY: 'auto' } } } as const

export const theme = createTheme({
  colors: { sluice, red, gray, dark },
  primaryColor: 'sluice',
  primaryShade: { light: 7, dark: 6 },
  black: '#1a2328',
  fontFamily: sans,
  fontWeights: { regular: '400', medium: '500', bold: '600' },
  fontFamilyMonospace: mono,
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  lineHeights: { xs: '1.4', sm: '1.5', md: '1.55', lg: '1.55', xl: '1.5' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  radius: { xs: '0.25rem', sm: '0.375rem', md: '0.5rem', lg: '0.75rem', xl: '1rem' },
  defaultRadius: 'sm',
  // A width of 600 px or less is a narrow window.
  breakpoints: { xs: '37.5625em', sm: '48em', md: '62em', lg: '75em', xl: '88em' },
  headings: {
    fontFamily: sans,
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.35' },
      h2: { fontSize: '1.125rem', lineHeight: '1.4' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.45' },
      h4: { fontSize: '0.875rem', lineHeight: '1.5' },
    },
  },
  shadows: {
    xs: 'none',
    sm: '0 1px 2px rgba(10, 30, 40, 0.06)',
    md: '0 4px 16px -4px rgba(10, 30, 40, 0.14)',
    lg: '0 8px 28px -8px rgba(10, 30, 40, 0.2)',
    xl: '0 16px 48px -12px rgba(10, 30, 40, 0.28)',
  },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    // Smaller than its neighbours, not louder.
    Button: {
      vars: (_theme: unknown, { size }: { size?: unknown }) => ({
        root: size === 'compact-md' ? { '--button-fz': 'var(--mantine-font-size-sm)', '--button-padding-x': '0.75rem' } : {},
      }),
    },
    InputWrapper: {
      // Help is below, so that fields side by side are aligned.
      defaultProps: { inputWrapperOrder: ['label', 'input', 'error', 'description'] },
      styles: {
        label: { marginBottom: 4 },
        description: { marginTop: 4, fontSize: 'var(--mantine-font-size-xs)', lineHeight: 1.45 },
        error: { marginTop: 4, fontSize: 'var(--mantine-font-size-xs)' },
      },
    },
    Drawer: {
      styles: { title: { fontSize: 'var(--mantine-font-size-lg)', fontWeight: 600 } },
      defaultProps: {
        position: 'right',
        size: 'md',
        overlayProps: { backgroundOpacity: 0.35 },
        transitionProps: { duration: 160 },
      },
    },
    Modal: {
      styles: { title: { fontWeight: 600, lineHeight: 1.4 } },
      defaultProps: {
        radius: 'lg',
        centered: true,
        overlayProps: { backgroundOpacity: 0.35 },
        transitionProps: { duration: 120 },
      },
    },
    // The head of a dialog is not the banner of the page.
    DrawerHeader: { defaultProps: { role: 'none' } },
    ModalHeader: { defaultProps: { role: 'none' } },
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, shadow: 'md', radius: 'md', transitionProps: { duration: 80 } } },
    NumberInput: { defaultProps: { hideControls: true } },
    PasswordInput: { defaultProps: { visibilityToggleIcon: VisibilityIcon } },
    Autocomplete: { ...choices, defaultProps: { ...choices.defaultProps, onFocus: selectText } },
    MultiSelect: choices,
    Select: { ...choices, defaultProps: { ...choices.defaultProps, checkIconPosition: 'right', onFocus: selectText } },
    TagsInput: choices,
    // The selected item is visible against its track on every surface.
    SegmentedControl: {
      styles: {
        root: { backgroundColor: 'var(--track)' },
        // By the length of its label: of equal widths the longest label is cut where there is little room.
        control: { flex: '1 1 auto' },
        indicator: { backgroundColor: 'var(--track-chosen)' },
      },
    },
    Switch: { defaultProps: { withThumbIndicator: false } },
    Tooltip: {
      defaultProps: { openDelay: 250, withArrow: false, radius: 'sm', events: { hover: true, focus: true, touch: true } },
    },
  },
})

/** Roles of colour that Mantine has no name for, and its own greys made readable. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-6)',
    '--mantine-color-placeholder': '#66757d',
    '--mantine-color-default-border': 'var(--mantine-color-gray-3)',
    '--mantine-color-error': '#c42b2b',
    '--mantine-color-anchor': 'var(--mantine-color-sluice-7)',
    '--ink': '#10181c',
    '--canvas': 'var(--mantine-color-gray-0)',
    '--surface': '#ffffff',
    '--surface-quiet': 'var(--mantine-color-gray-0)',
    '--surface-hover': 'var(--mantine-color-gray-1)',
    '--line': 'var(--mantine-color-gray-2)',
    '--line-field': '#7f8e96',
    '--track': 'var(--mantine-color-gray-1)',
    '--track-chosen': '#ffffff',
    '--accent': 'var(--mantine-color-sluice-7)',
    '--accent-quiet': 'var(--mantine-color-sluice-0)',
    '--accent-text': 'var(--mantine-color-sluice-8)',
    '--text-quiet': 'var(--mantine-color-gray-7)',
  },
  dark: {
    '--mantine-color-body': 'var(--mantine-color-dark-7)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-2)',
    '--mantine-color-placeholder': '#85949c',
    '--mantine-color-default-border': 'var(--mantine-color-dark-4)',
    '--mantine-color-error': '#ff8585',
    '--mantine-color-anchor': 'var(--mantine-color-sluice-3)',
    '--mantine-color-red-light-color': 'var(--mantine-color-red-3)',
    '--mantine-color-red-light': '#361b1e',
    '--mantine-color-red-light-hover': '#442226',
    '--mantine-color-sluice-light': 'var(--accent-quiet)',
    '--mantine-color-sluice-light-hover': '#173d49',
    '--mantine-color-sluice-light-color': 'var(--accent-text)',
    '--ink': '#f2f6f8',
    '--canvas': 'var(--mantine-color-dark-8)',
    '--surface': 'var(--mantine-color-dark-7)',
    '--surface-quiet': '#131a1f',
    '--surface-hover': 'var(--mantine-color-dark-6)',
    '--line': '#242d33',
    '--line-field': '#64737c',
    '--track': 'var(--mantine-color-dark-6)',
    '--track-chosen': 'var(--mantine-color-dark-4)',
    '--accent': 'var(--mantine-color-sluice-4)',
    '--accent-quiet': '#12303a',
    '--accent-text': 'var(--mantine-color-sluice-2)',
    '--text-quiet': 'var(--mantine-color-dark-1)',
  },
})
