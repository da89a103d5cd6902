// The same list as good-component.tsx. Each comment names the rule that is broken.
import React, { useCallback, useEffect, useState } from "react";

export default function List(props: any) { // rules 1 and 2: default export, vague name, no types
  const [orders, setOrders] = useState<any[]>([]);
  const [filter, setFilter] = useState("");
  const [visible, setVisible] = useState<any[]>([]); // rule 3: can be derived

  useEffect(() => {
    fetch("/api/orders?customer=" + props.customerId)
      .then((r) => r.json())
      .then(setOrders);
  }, []); // rule 4: customerId is missing, nothing is cleaned up, errors vanish

  useEffect(() => {
    setVisible(orders.filter((o) => o.title.toLowerCase().includes(filter)));
  }, [orders, filter]); // rule 4: computes only, needs no effect

  const click = useCallback((id: string) => props.select(id), []); // rules 5 and 9

  return (
    <div>
      {orders.length > 0 ? ( // rule 7: loading, error and empty look the same
        <div>
          <input onChange={(e) => setFilter(e.target.value)} />
          {visible.map((o, i) => (
            <div key={i} onClick={() => click(o.id)}> {/* rules 6 and 8 */}
              {o.title}
            </div>
          ))}
        </div>
      ) : null}
    </div>
  );
}
