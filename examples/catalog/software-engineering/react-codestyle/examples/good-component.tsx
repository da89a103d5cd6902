import { useState } from "react";

import { useOrders, type Order } from "./useOrders";
import styles from "./OrderList.module.css";

interface OrderListProps {
  customerId: string;
  onSelect: (orderId: string) => void;
}

export function OrderList({ customerId, onSelect }: OrderListProps) {
  const { orders, error, loading } = useOrders(customerId);
  const [filter, setFilter] = useState("");

  if (loading) return <p role="status">Loading orders…</p>;
  if (error) return <p role="alert">Orders could not be loaded. Try again later.</p>;
  if (orders.length === 0) return <p>No orders yet.</p>;

  const visible = orders.filter((order) => matches(order, filter));

  return (
    <section className={styles.list}>
      <label>
        Filter
        <input value={filter} onChange={(event) => setFilter(event.target.value)} />
      </label>
      <ul>
        {visible.map((order) => (
          <li key={order.id}>
            <button type="button" onClick={() => onSelect(order.id)}>
              {order.title}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function matches(order: Order, filter: string): boolean {
  return order.title.toLowerCase().includes(filter.trim().toLowerCase());
}
