import { Tabs } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import styles from './page-tabs.module.css'

interface PageTabsProps<Value extends string> {
  /** `mark` shows a dot beside the name, with this label. */
  readonly tabs: readonly { readonly value: Value; readonly label: string; readonly mark?: string | undefined }[]
  readonly value: Value
  readonly onChange: (value: Value) => void
  readonly children: ReactNode
}

/** The parts of a page, one at a time. On a narrow window the row of names scrolls. */
export function PageTabs<Value extends string>({ tabs, value, onChange, children }: PageTabsProps<Value>) {
  const list = useRef<HTMLDivElement>(null)

  // Synchronizes the scroll position of the tabs, which is outside of React.
  useEffect(() => {
    list.current?.querySelector(`[data-tab="${value}"]`)?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [value])

  return (
    // The tabs return only values that they were given.
    <Tabs value={value} onChange={(next) => next !== null && onChange(next as Value)} keepMounted={false}>
      <Tabs.List ref={list} className={styles.list ?? ''}>
        {tabs.map((tab) => (
          <Tabs.Tab key={tab.value} value={tab.value} data-tab={tab.value} className={styles.tab ?? ''}>
            {tab.label}
            {tab.mark && <span className={styles.mark} title={tab.mark} role="img" aria-label={tab.mark} />}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={value}>{children}</Tabs.Panel>
    </Tabs>
  )
}
