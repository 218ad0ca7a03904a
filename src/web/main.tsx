import './styles.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { languageReady } from './lib/i18n.ts'
import { queryClient } from './lib/query.ts'
import { restoreFocus } from './lib/restore-focus.ts'
import { router } from './router.tsx'
import { cssVariables, theme } from './theme.ts'

// index.html has this element.
const place = document.getElementById('root') as HTMLElement

restoreFocus()

languageReady.then(() =>
  createRoot(place).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  ),
)
